package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Sets;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.train.checkpoint.RunFolder;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.imageio.ImageIO;

/** Inputs, outputs and messages of {@code predict}. */
class PredictCommandTest {

    private static TinyRun tiny;

    @TempDir Path folder;
    private Path out;

    @BeforeAll
    static void train() throws IOException {
        tiny = TinyRun.shared();
    }

    @BeforeEach
    void nameFolder() {
        out = folder.resolve("found");
    }

    private CommandResult predict(Object... more) {
        List<Object> args =
                new ArrayList<>(List.of("predict", tiny.run(), "--out", out, "--overwrite"));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    /** Returns the visible files. */
    private static Set<String> visible(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString())
                    .filter(name -> !name.startsWith("."))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private Set<String> predicted() throws IOException {
        JsonNode message = new ObjectMapper().readTree(out.resolve("predictions.json").toFile());
        Set<String> names = new TreeSet<>();
        message.forEach(
                entry -> names.add(Path.of(entry.get("image").asText()).getFileName().toString()));
        return names;
    }

    @Test
    void reportsBadImagesAndPredictsOthers() throws IOException {
        Path photos = folder.resolve("photos");
        tiny.photo(photos.resolve("a.jpg"));
        Files.writeString(photos.resolve("b.jpg"), "<html>");
        Files.write(photos.resolve("c.gif"), "GIF89a\1\0\1\0\0\0\0;".getBytes(ISO_8859_1));
        tiny.photo(photos.resolve("d.jpg"));
        Path missing = folder.resolve("missing.jpg");
        Path last = tiny.photo(folder.resolve("e.jpg"));
        CommandResult ended = predict(photos, missing, last, last);
        assertEquals(2, ended.code());
        String err = ended.err();
        assertTrue(err.contains("b.jpg: is not an image, it starts with \"<html>\""), err);
        assertTrue(err.contains("c.gif: is a GIF image"), err);
        assertTrue(err.contains("missing.jpg: no such file"), err);
        assertTrue(err.endsWith("saccade: 3 of 6 inputs could not be predicted\n"), err);
        assertEquals(Set.of("a.jpg", "d.jpg", "e.jpg"), predicted());
        assertEquals(Set.of("a.jpg", "d.jpg", "e.jpg", "predictions.json"), visible(out));
    }

    /** Equal warnings of several images become one line. */
    @Test
    void reportsPartiallyReadImages() throws IOException {
        Path photos = folder.resolve("photos");
        Files.createDirectory(photos);
        BufferedImage dark = new BufferedImage(24, 16, BufferedImage.TYPE_USHORT_GRAY);
        ImageIO.write(dark, "png", photos.resolve("a.png").toFile());
        ImageIO.write(dark, "png", photos.resolve("b.png").toFile());
        byte[] jpeg = Files.readAllBytes(tiny.photo(folder.resolve("c.jpg")));
        Path noEnd = photos.resolve("d.jpg");
        Files.write(noEnd, Arrays.copyOf(jpeg, jpeg.length - 2));
        CommandResult ended = predict(photos);
        assertEquals(0, ended.code(), ended.err());
        assertEquals(Set.of("a.png", "b.png", "d.jpg"), predicted());
        String err = ended.err();
        assertTrue(err.contains("a.png and 1 more image: has more than 8 bits"), err);
        assertTrue(err.contains("a.png and 1 more image: is nearly black"), err);
        assertTrue(err.contains("d.jpg: has no end marker"), err);

        Path list = folder.resolve("list.txt");
        Files.writeString(list, noEnd.toString());
        CommandResult listed = predict("--list", list);
        assertTrue(listed.err().contains("warning: " + noEnd + ": has no end"), listed.err());
    }

    @Test
    void decodesEachImageOnce() throws IOException {
        Path photo = tiny.photo(folder.resolve("a.jpg"));
        Path records = folder.resolve("reads.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.FileRead").withoutThreshold();
            recording.start();
            assertEquals(0, predict(photo).code());
            recording.stop();
            recording.dump(records);
        }
        long bytes =
                RecordingFile.readAllEvents(records).stream()
                        .filter(read -> read.getEventType().getName().equals("jdk.FileRead"))
                        .filter(read -> photo.toString().equals(read.getString("path")))
                        .mapToLong(read -> Math.max(0, read.getLong("bytesRead")))
                        .sum();
        assertEquals(Files.size(photo), bytes);
        assertEquals(Set.of("a.jpg", "predictions.json"), visible(out));
    }

    @Test
    void readsImageFromStandardInput() throws IOException {
        byte[] photo = Files.readAllBytes(tiny.photo(folder.resolve("a.jpg")));
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream(photo));
            assertEquals(0, predict("-").code());
            assertEquals(Set.of("stdin"), predicted());
            assertEquals(Set.of("stdin.jpg", "predictions.json"), visible(out));

            System.setIn(new ByteArrayInputStream("no image".getBytes(ISO_8859_1)));
            CommandResult ended = predict("-");
            assertEquals(2, ended.code());
            assertTrue(ended.err().contains("stdin: is not an image"), ended.err());
        } finally {
            System.setIn(before);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void doesNotWaitForPipes() throws IOException, InterruptedException {
        Path pipe = folder.resolve("a.jpg");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        for (Path input : List.of(pipe, Path.of("/dev/zero"), folder)) {
            CommandResult ended = predict(input);
            assertEquals(2, ended.code());
            assertTrue(ended.err().contains("regular file"), ended.err());
        }
    }

    @Test
    void emptyNameIsCurrentFolder() throws IOException {
        Path picture = Path.of("a-picture-of-no-kind.jpg");
        Files.writeString(picture, "no image");
        try {
            CommandResult ended = predict("");
            assertEquals(2, ended.code());
            assertTrue(ended.err().contains(picture + ": is not an image"), ended.err());
        } finally {
            Files.delete(picture);
        }
    }

    @Test
    void suggestsSubfoldersWithImages() throws IOException {
        Path photos = folder.resolve("photos");
        tiny.photo(photos.resolve("2024").resolve("may").resolve("a.jpg"));
        tiny.photo(photos.resolve("2025").resolve("b.jpg"));
        CommandResult none = predict(photos);
        assertEquals(2, none.code());
        assertTrue(none.err().contains("pass those folders instead"), none.err());
        for (String subfolder : List.of("2024/may", "2025")) {
            String path = photos.resolve(subfolder).toString();
            assertTrue(none.err().contains(path), none.err());
        }
        assertFalse(Files.exists(out));

        tiny.photo(photos.resolve("c.jpg"));
        out = photos.resolve("found");
        assertEquals(0, predict(photos).code());
        CommandResult some = predict(photos);
        assertEquals(0, some.code(), some.err());
        assertTrue(some.err().contains("photos/2025 were skipped"), some.err());
        assertFalse(some.err().contains(out + " were skipped"), "its own pictures");
        assertEquals(Set.of("c.jpg"), predicted());
    }

    @Test
    void rejectsUrls() {
        String message = predict(Path.of("https://example.org/a.jpg")).err();
        assertTrue(
                message.contains("https://example.org/a.jpg: is a URL; download the file first"),
                message);
    }

    @Test
    void reportsEmptyFolders() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertEquals(
                "saccade: no images to predict: "
                        + empty
                        + ": no images; expected files ending in .jpg, .jpeg, .jpe,"
                        + " .jfif, .png, .bmp, .dib, .webp, .tif, .tiff, .npy\n",
                predict(empty).err());
        CommandResult ended = predict(empty, tiny.photo(folder.resolve("a.jpg")));
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("empty: no images"), ended.err());
        assertTrue(ended.err().endsWith("saccade: 1 of 2 inputs could not be predicted\n"));
        assertEquals(Set.of("a.jpg"), predicted());
    }

    @Test
    void onlyOverwriteReplacesFolders() throws IOException {
        Path first = tiny.photo(folder.resolve("a.jpg"));
        Path second = tiny.photo(folder.resolve("b.jpg"));
        assertTrue(predict(first, second).err().contains(" in 2 images, written to"));
        Set<String> before = visible(out);
        CommandResult refused = saccade("predict", tiny.run(), second, "--out", out);
        assertEquals(2, refused.code());
        assertTrue(refused.err().contains(out + ": is not an empty folder"), refused.err());
        assertTrue(refused.err().contains("see --out and --overwrite of "), refused.err());
        assertEquals(before, visible(out));
        CommandResult again = predict(second);
        assertEquals(0, again.code(), again.err());
        assertTrue(again.err().contains(" in 1 image, written to"), again.err());
        String replaced = out + ": 3 files will be replaced (--overwrite)";
        assertTrue(again.err().contains(replaced), again.err());
        assertEquals(Set.of("b.jpg", "predictions.json"), visible(out));
        assertEquals(Set.of("b.jpg"), predicted());
    }

    @Test
    void keepsOldResultsWithoutInputs() throws IOException {
        assertEquals(0, predict(tiny.photo(folder.resolve("a.jpg"))).code());
        Set<String> before = visible(out);
        CommandResult mistaken = predict(folder.resolve("b.jpg"), folder.resolve("c.mp4"));
        assertEquals(2, mistaken.code());
        assertTrue(mistaken.err().contains("b.jpg: no such file"), mistaken.err());
        assertTrue(mistaken.err().contains("c.mp4: no such file"), mistaken.err());
        assertEquals(before, visible(out));
    }

    @Test
    void picturesOfEqualNamesGetUniqueNames() throws IOException {
        Path first = tiny.photo(folder.resolve("first").resolve("a.jpg"));
        Path second = tiny.photo(folder.resolve("second").resolve("a.jpg"));
        CommandResult ended = predict(first, second, "--json", "--score", 0);
        assertEquals(0, ended.code(), ended.err());
        JsonNode message = new ObjectMapper().readTree(ended.out());
        assertEquals(first.toString(), message.get(0).get("image").asText());
        assertEquals("a.jpg", message.get(0).get("picture").asText());
        assertEquals(second.toString(), message.get(1).get("image").asText());
        assertEquals("a_2.jpg", message.get(1).get("picture").asText());
        assertTrue(message.get(1).get("objects").size() > 0);
    }

    @Test
    void keepsPredictionsBeforeWriteError() throws IOException {
        Path good = tiny.photo(folder.resolve("a.jpg"));
        Path longest = tiny.photo(folder.resolve("b".repeat(253) + ".x"));
        Path last = tiny.photo(folder.resolve("c.jpg"));
        CommandResult ended = predict(good, longest, last);
        assertEquals(3, ended.code(), ended.err());
        assertTrue(ended.err().contains("bbb.jpg: cannot be written: "), ended.err());
        // c.jpg may finish before the error.
        Set<String> kept = predicted();
        assertTrue(kept.contains("a.jpg"), kept.toString());
        assertEquals(Sets.union(kept, Set.of("predictions.json")), visible(out));
        assertEquals(3, predict(longest).code());
        assertEquals(kept, predicted());
        assertEquals(0, predict(good).code());
    }

    @Test
    void noLabelsDrawsBoxesOnly() throws IOException {
        Path photo = tiny.photo(folder.resolve("a.jpg"));
        assertEquals(0, predict(photo, "--score", 0).code());
        byte[] labeled = Files.readAllBytes(out.resolve("a.jpg"));
        assertEquals(0, predict(photo, "--score", 0, "--no-labels").code());
        assertFalse(Arrays.equals(labeled, Files.readAllBytes(out.resolve("a.jpg"))));
    }

    @Test
    void usesTheRecommendedScoreOfTheCheckpoint() throws IOException {
        Path photo = tiny.photo(folder.resolve("a.jpg"));
        Path weights = new RunFolder(tiny.run()).best();
        Checkpoint checkpoint = Checkpoints.open(weights);
        ScoreThresholds recommended =
                ScoreThresholds.find(checkpoint.metadata(), "best").orElseThrow();
        JsonNode all = objects(photo, "--score", 0);
        List<Double> scores = new ArrayList<>();
        all.forEach(object -> scores.add((double) object.get("score").floatValue()));
        assertEquals(
                scores.stream().filter(score -> score >= recommended.overall()).count(),
                objects(photo).size());
        assertTrue(predict(photo).err().contains("recommended by the checkpoint"));
        assertFalse(predict(photo, "--score", 0.5).err().contains("minimum score"));

        double middle = scores.get(scores.size() / 2);
        String label = all.get(0).get("label").asText();
        Path perClass = save(checkpoint, new ScoreThresholds(middle, Map.of(label, 1.0)));
        long reached = scores.stream().filter(score -> score >= middle).count();
        assertEquals(reached, objects(perClass, photo).size());
        JsonNode others = objects(perClass, photo, "--score", "per-class");
        assertTrue(others.size() < reached);
        others.forEach(object -> assertNotEquals(label, object.get("label").asText()));

        Path old = folder.resolve("old.safetensors");
        Checkpoints.save(
                old,
                new Checkpoint(
                        checkpoint.tensors(),
                        Map.of(ModelSpec.KEY, checkpoint.metadata().get(ModelSpec.KEY))));
        CommandResult fallback = saccade("predict", old, photo, "--out", out, "--overwrite");
        assertTrue(fallback.err().contains("minimum score 0.30 (default"), fallback.err());

        CommandResult mistaken = predict(photo, "--score", "often");
        assertEquals(2, mistaken.code());
        assertTrue(mistaken.err().contains("--score often: expected a number"), mistaken.err());
    }

    private Path save(Checkpoint checkpoint, ScoreThresholds thresholds) {
        Map<String, String> metadata = new HashMap<>(checkpoint.metadata());
        metadata.putAll(thresholds.toMetadata());
        Path file = folder.resolve("per_class.safetensors");
        Checkpoints.save(file, new Checkpoint(checkpoint.tensors(), metadata));
        return file;
    }

    private JsonNode objects(Path photo, Object... more) throws IOException {
        return objects(tiny.run(), photo, more);
    }

    private JsonNode objects(Path run, Path photo, Object... more) throws IOException {
        List<Object> args = new ArrayList<>(List.of("predict", run, photo, "--json"));
        args.add("--no-pictures");
        args.addAll(List.of(more));
        CommandResult ended = saccade(args.toArray());
        assertEquals(0, ended.code(), ended.err());
        return new ObjectMapper().readTree(ended.out()).at("/0/objects");
    }

    @Test
    void jsonWithoutPicturesWritesNoFiles() throws IOException {
        Path photo = tiny.photo(folder.resolve("a.jpg"));
        Path list = Files.writeString(folder.resolve("list.txt"), photo + "\n");
        CommandResult ended =
                predict(photo, "--list", list, "--json", "--no-pictures", "--score", 0.001);
        assertEquals(0, ended.code(), ended.err());
        assertFalse(Files.exists(out));
        assertFalse(ended.err().contains("written"), ended.err());
        try (JsonParser printed = new ObjectMapper().createParser(ended.out())) {
            JsonNode images = printed.readValueAsTree();
            JsonNode image = images.get(0);
            assertEquals(photo.toString(), image.get("image").asText());
            assertEquals(96, image.get("width").asInt());
            assertEquals(64, image.get("height").asInt());
            JsonNode object = image.at("/objects/0");
            assertEquals(
                    List.of("classIndex", "label", "score", "x", "y", "width", "height"),
                    ImmutableList.copyOf(object.fieldNames()));
            JsonNode line = printed.readValueAsTree();
            assertEquals(image, line);
        }
    }

    @Test
    void neverOverwritesInputs() throws IOException {
        Path photos = folder.resolve("photos");
        Path photo = tiny.photo(photos.resolve("a.jpg"));
        byte[] before = Files.readAllBytes(photo);
        out = photos;
        CommandResult refused = predict(photos);
        assertEquals(2, refused.code());
        assertTrue(refused.err().contains("a.jpg: is in the output folder"), refused.err());
        Path other = tiny.photo(folder.resolve("b.jpg"));
        assertEquals(2, saccade("predict", tiny.run(), other, "--out", photos).code());
        assertArrayEquals(before, Files.readAllBytes(photo));
        assertEquals(Set.of("a.jpg"), visible(photos));
    }

    @Test
    void doesNotReplaceInputFolder() throws IOException {
        assertEquals(0, predict(tiny.photo(folder.resolve("a.jpg"))).code());
        Set<String> before = visible(out);
        CommandResult refused = predict(out);
        assertEquals(2, refused.code());
        assertTrue(refused.err().contains("is in the output folder"), refused.err());
        assertEquals(before, visible(out));
        Path link = Files.createSymbolicLink(folder.resolve("link"), out);
        assertEquals(2, predict(link).code());
        assertEquals(before, visible(out));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void unwritableOutputIsAnError() throws IOException, InterruptedException {
        Process process =
                CommandResult.process("--help")
                        .redirectOutput(Path.of("/dev/full").toFile())
                        .start();
        String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
        assertEquals(3, process.waitFor(), err);
        assertTrue(err.contains("standard output cannot be written: No space left"), err);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "@b.jpg",
                "${sys:user.home}.jpg",
                "-x.jpg",
                "'a b'.jpg",
                "a\u202eb.jpg",
                "a\nb.jpg",
                "a\u001b[2Jb.jpg",
                "a\u009bb.jpg",
                "a\u2028b.jpg",
                "Übung 日本.jpg"
            })
    void picturesAreNamedLikeImages(String name) throws IOException {
        Path photo = tiny.photo(folder.resolve(name));
        CommandResult ended = predict("--json", photo);
        assertEquals(0, ended.code(), ended.err());
        assertEquals(
                photo.toString(),
                new ObjectMapper().readTree(ended.out()).get(0).get("image").asText());
        assertEquals(Set.of(name), predicted());
        assertEquals(Set.of(name, "predictions.json"), visible(out));
    }

    @Test
    void acceptsNamesLikeOptionsAfterTwoDashes() {
        CommandResult ended = predict("--", "-x.jpg", "--score=2.jpg");
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains(" -x.jpg: no such file"), ended.err());
        assertTrue(ended.err().contains(" --score=2.jpg: no such file"), ended.err());
        String help = saccade("predict", "--help").out().replaceAll("\\s+", " ");
        assertTrue(help.contains("Put -- before names"), help);
    }

    @Test
    void doesNotExpandArgumentFiles() throws IOException {
        Path options = Files.writeString(folder.resolve("options"), "--help\n");
        CommandResult ended = saccade("predict", tiny.run(), "@" + options, "--out", out);
        assertEquals(2, ended.code(), ended.out());
        assertTrue(ended.err().contains("@" + options + ": no such file"), ended.err());
        CommandResult config = saccade("config", tiny.recipe(), "--set", "@" + options);
        assertTrue(config.err().contains("--set @" + options + ": expected key"), config.err());
        String value = "@" + options;
        CommandResult set = saccade("config", tiny.recipe(), "--set", "data.root='" + value + "'");
        assertTrue(set.out().contains("\"" + value + "\""), set.out());
        String variable = "data.root=\"${sys:user.home}${env:HOME}\"";
        CommandResult literal = saccade("config", tiny.recipe(), "--set", variable);
        assertTrue(literal.out().contains("\"${sys:user.home}${env:HOME}\""), literal.out());
    }
}
