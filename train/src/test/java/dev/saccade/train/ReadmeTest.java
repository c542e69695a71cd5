package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Text;
import dev.saccade.train.checkpoint.RunFolder;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import javax.imageio.ImageIO;
import javax.tools.ToolProvider;

/** Does what {@code README.md} says about data of one's own. */
class ReadmeTest {

    private static final Pattern PROGRAM =
            Pattern.compile(
                    "^`mine/(\\w+)\\.java`\n\n```java\n(.*?)^```",
                    Pattern.DOTALL | Pattern.MULTILINE);

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              train: {type: coco}
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            """;

    @TempDir private Path folder;

    @Test
    void theProgramTrainsOnDataOfItsOwn() throws IOException, ReflectiveOperationException {
        String page = Files.readString(Path.of("README.md"));
        List<MatchResult> programs = PROGRAM.matcher(page).results().toList();
        assertEquals(1, programs.size(), "programs on the page");
        String name = programs.get(0).group(1);
        Path source = folder.resolve(name + ".java");
        Files.writeString(source, programs.get(0).group(2));
        compile(source);
        draw("train.txt", 4);
        draw("val.txt", 2);
        Path config = Files.writeString(folder.resolve("tiny.yaml"), CONFIG);
        Path run = folder.resolve("run");

        String printed = printed(name, config.toString(), folder.toString(), run.toString());
        assertTrue(printed.matches("(?s)1: loss .*4: loss \\S+\nFINISHED [01]\\.\\d+\n"), printed);
        assertTrue(Files.exists(new RunFolder(run).best()));
    }

    /** Draws photographs of a disc and a square and writes where they are. */
    private void draw(String labels, int count) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            BufferedImage image = new BufferedImage(80, 64, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = image.createGraphics();
            graphics.setColor(Color.ORANGE);
            graphics.fillOval(4 * i, 8, 24, 24);
            graphics.fillRect(50, 8 * i, 20, 20);
            graphics.dispose();
            String photo = labels.replace(".txt", i + ".png");
            ImageIO.write(image, "png", folder.resolve(photo).toFile());
            lines.append(Text.format("%s disc %d 8 24 24%n", photo, 4 * i))
                    .append(Text.format("%s square 50 %d 20 20%n", photo, 8 * i));
        }
        Files.writeString(folder.resolve(labels), lines);
    }

    private void compile(Path source) {
        int code =
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-cp",
                                System.getProperty("java.class.path"),
                                "-Xlint:all",
                                "-Werror",
                                "-proc:none",
                                "-d",
                                folder.toString(),
                                source.toString());
        assertEquals(0, code, "the program of the page does not compile");
    }

    private String printed(String name, String... args)
            throws IOException, ReflectiveOperationException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream usual = System.out;
        URL mine = folder.toUri().toURL();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {mine}, getClass().getClassLoader())) {
            System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
            loader.loadClass(name).getMethod("main", String[].class).invoke(null, (Object) args);
        } finally {
            System.setOut(usual);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
