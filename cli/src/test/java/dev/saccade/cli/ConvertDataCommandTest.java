package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Text;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.coco.CocoDataset;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.imageio.ImageIO;

/** Converts labels of other tools with commands only. */
class ConvertDataCommandTest {

    @TempDir private Path folder;
    private Path yolo;
    private Path out;

    @BeforeEach
    void write() throws IOException {
        yolo = folder.resolve("my yolo");
        out = folder.resolve("coco");
        for (String name : List.of("a/0", "a/1", "a/2", "a/3", "b/0", "b/1", "b/2", "b/3")) {
            png(yolo.resolve("images/" + name + ".png"), BufferedImage.TYPE_3BYTE_BGR);
            text("labels/" + name + ".txt", "1 0.5 0.5 0.5 0.5");
        }
        text("classes.txt", "cat\ndog");
    }

    private static void png(Path file, int type) throws IOException {
        Files.createDirectories(file.getParent());
        BufferedImage image = new BufferedImage(40, 32, type);
        if (type == BufferedImage.TYPE_3BYTE_BGR) {
            // Images with the same content are reported.
            image.setRGB(0, 0, file.hashCode());
        }
        ImageIO.write(image, "png", file.toFile());
    }

    private void text(String name, String content) throws IOException {
        Path file = yolo.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private CommandResult convert(Object... more) {
        return CommandResult.saccade(
                Stream.concat(
                                Stream.of("convert-data", yolo, "--out", out, "--overwrite"),
                                Stream.of(more))
                        .toArray());
    }

    private CocoDataset part(String name) {
        return CocoDataset.open(
                out.resolve("annotations_" + name + ".json"), out.resolve("images"), List.of());
    }

    @Test
    void checkPrintsSummaryAndConvertCommand() {
        CommandResult ended = CommandResult.saccade("check", yolo);
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.out().contains("train: 8 images"), ended.out());
        assertTrue(ended.out().contains("0 errors, 0 warnings"), ended.out());
        String command =
                String.format(
                        Locale.ROOT, "./saccade convert-data '%s' --out '%s-coco'", yolo, yolo);
        assertTrue(ended.err().contains(command), ended.err());
    }

    @Test
    void reportsLineOfErrorAndWritesNothing() throws IOException {
        text("labels/a/0.txt", "1 0.5 0.5 0.5 0.5\n7 0.5 0.5 0.5 0.5");
        String fault = "labels/a/0.txt:2: got class 7, expected 0 to 1";
        CommandResult checked = CommandResult.saccade("check", yolo, "--json");
        assertEquals(2, checked.code());
        assertTrue(checked.out().contains("labels/a/0.txt:2\""), checked.out());
        assertTrue(checked.out().contains("class 7, expected 0 to 1"), checked.out());
        CommandResult converted = convert();
        assertEquals(2, converted.code());
        assertTrue(converted.err().contains(fault), converted.err());
        assertTrue(converted.err().contains("--skip-faulty"), converted.err());
        assertEquals(Set.of("my yolo"), names(folder));
        CommandResult skipped = convert("--skip-faulty");
        assertEquals(0, skipped.code(), skipped.err());
        assertEquals(7, part("train").size() + part("val").size());
    }

    @Test
    void imagesKeepTheirFoldersAndAreLinked() throws IOException {
        CommandResult ended = convert();
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.err().contains("./saccade new " + out), ended.err());
        assertEquals(Set.of("a", "b"), names(out.resolve("images")));
        assertEquals(List.of("cat", "dog"), part("train").classes());
        Path source = yolo.resolve("images/a/0.png");
        Path made = out.resolve("images/a/0.png");
        boolean linked = ended.err().contains("images were linked");
        Object key = Files.getAttribute(source, "unix:ino");
        assertEquals(linked, key.equals(Files.getAttribute(made, "unix:ino")));
    }

    @Test
    void splitDependsOnlyOnNamesAndSeed() throws IOException {
        convert("--val-fraction", "0.4");
        Set<String> before = fileNames("val");
        assertFalse(before.isEmpty());
        png(yolo.resolve("images/a/9.png"), BufferedImage.TYPE_3BYTE_BGR);
        convert("--val-fraction", "0.4");
        Set<String> after = fileNames("val");
        after.remove("a/9.png");
        assertEquals(before, after);
        convert("--val-fraction", "0.4", "--seed", "1");
        assertFalse(fileNames("val").equals(before));
        assertEquals(9, part("train").size() + part("val").size());
    }

    private Set<String> fileNames(String part) throws IOException {
        String json = Files.readString(out.resolve("annotations_" + part + ".json"));
        return Pattern.compile("\"file_name\":\"([^\"]*)\"")
                .matcher(json)
                .results()
                .map((MatchResult name) -> name.group(1))
                .collect(Collectors.toSet());
    }

    @Test
    void splitWithoutObjectsIsAnError() throws IOException {
        for (int i = 0; i < 4; i++) {
            text("labels/b/" + i + ".txt", "");
        }
        text("data.yaml", "train: images/a\nval: images/b\nnames: [cat, dog]");
        for (CommandResult ended : List.of(CommandResult.saccade("check", yolo), convert())) {
            assertEquals(2, ended.code());
            String all = ended.out() + ended.err();
            assertTrue(all.contains("no objects to evaluate on: none of 4 images"), all);
        }
        assertFalse(Files.exists(out));
        text("data.yaml", "train: images/b\nval: images/a\nnames: [cat, dog]");
        assertTrue(convert().err().contains("no objects to train on"));
    }

    @Test
    void checkOfCocoFolderFindsValidationSetWithoutObjects() throws IOException {
        Path export = folder.resolve("export");
        png(export.resolve("images/a.jfif"), BufferedImage.TYPE_3BYTE_BGR);
        png(export.resolve("images/b.jfif"), BufferedImage.TYPE_3BYTE_BGR);
        String json =
                "{\"images\": [{\"id\": 1, \"file_name\": \"%s.jfif\", \"width\": 40, \"height\":"
                        + " 32}],\"categories\": [{\"id\": 1, \"name\": \"cat\"}], \"annotations\":"
                        + " [%s]}";
        String box = "{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [1, 1, 9, 9]}";
        Files.writeString(export.resolve("train.json"), Text.format(json, "a", box));
        Files.writeString(export.resolve("val.json"), Text.format(json, "b", ""));
        CommandResult ended = CommandResult.saccade("check", export, "--quick");
        assertEquals(2, ended.code());
        assertTrue(ended.out().contains("no objects to evaluate on"), ended.out());
    }

    @Test
    void onlyOverwriteReplacesFolders() throws IOException {
        assertEquals(0, convert().code());
        Path mine = Files.writeString(out.resolve("mine.txt"), "mine");
        CommandResult refused = CommandResult.saccade("convert-data", yolo, "--out", out);
        assertEquals(2, refused.code());
        assertTrue(refused.err().contains("is not an empty folder"), refused.err());
        assertTrue(Files.exists(mine));
        assertEquals(0, convert().code());
        assertFalse(Files.exists(mine));
    }

    @Test
    void rejectsAmbiguousFormats() throws IOException {
        text("a.xml", "<annotation><object/></annotation>");
        CommandResult ended = convert();
        assertEquals(2, ended.code());
        assertTrue(
                ended.err().contains("may be YOLO, Pascal VOC; select one with --format"),
                ended.err());
        assertEquals(0, convert("--format", "yolo").code());
    }

    @Test
    void convertsLabelMapsToAde20kLayout() throws IOException {
        Path masks = folder.resolve("masks");
        for (String part : List.of("train", "val")) {
            png(masks.resolve(part + "/a.png"), BufferedImage.TYPE_3BYTE_BGR);
            png(masks.resolve(part + "_masks/a.png"), BufferedImage.TYPE_BYTE_GRAY);
        }
        Files.writeString(masks.resolve("classes.txt"), "sky\nroad\n");
        CommandResult ended = CommandResult.saccade("convert-data", masks, "--out", out);
        assertEquals(0, ended.code(), ended.err());
        Ade20kDataset read =
                new Ade20kDataset.Config(
                                "images/validation",
                                "annotations/validation",
                                List.of(),
                                Optional.of("classes.txt"),
                                true,
                                255,
                                ".png",
                                ".png")
                        .open(out);
        assertEquals(List.of("sky", "road"), read.classes());
        assertEquals(40 * 32, read.labels(0).histogram(2)[0]);
    }

    /** Roboflow exports all images in one annotation file. */
    @Test
    void splitsUndividedCocoFolders() throws IOException {
        convert("--val-fraction", "0.1");
        Path export = folder.resolve("export");
        Files.createDirectories(export);
        Files.move(out.resolve("images"), export.resolve("images"));
        Files.move(out.resolve("annotations_train.json"), export.resolve("result.json"));
        CommandResult checked = CommandResult.saccade("check", export, "--quick");
        Path config = folder.resolve("export.yaml");
        CommandResult proposed = CommandResult.saccade("new", export, "--out", config);
        String command = "split it with: ./saccade convert-data %s --out %s-split";
        assertTrue(
                proposed.err().contains(String.format(Locale.ROOT, command, export, export)),
                proposed.err());
        assertTrue(
                checked.err().contains(String.format(Locale.ROOT, command, export, export)),
                checked.err());
        Path split = folder.resolve("export-split");
        CommandResult divided = CommandResult.saccade("convert-data", export, "--out", split);
        assertEquals(0, divided.code(), divided.err());
        assertEquals(
                Set.of("annotations_train.json", "annotations_val.json", "images"),
                names(split).stream().filter(n -> !n.startsWith(".")).collect(Collectors.toSet()));
        CommandResult again = CommandResult.saccade("new", split, "--out", config, "--force");
        assertFalse(again.err().contains("divide it"), again.err());
    }

    private static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> content = Files.list(folder)) {
            return content.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
        }
    }
}
