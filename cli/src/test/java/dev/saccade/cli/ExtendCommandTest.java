package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Ascii;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.models.ModelSpec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;

/** Adds classes to a small detector. */
class ExtendCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** AP that detectors of one epoch lose by chance. */
    static final double TOY_DROP = 0.2;

    @TempDir Path folder;

    /** Writes the scenes with labels of one class under another name. */
    static Path newData(TinyRun tiny, Path data, String label, String name) throws IOException {
        Files.createDirectories(data);
        Files.createSymbolicLink(
                data.resolve("images"), tiny.scenes().resolve("images").toAbsolutePath());
        for (String file : List.of("annotations_train.json", "annotations_val.json")) {
            JsonNode coco = JSON.readTree(tiny.scenes().resolve(file).toFile());
            int id = 0;
            for (JsonNode category : coco.get("categories")) {
                id = category.get("name").asText().equals(label) ? category.get("id").asInt() : id;
            }
            ArrayNode objects = JSON.createArrayNode();
            for (JsonNode object : coco.get("annotations")) {
                if (object.get("category_id").asInt() == id) {
                    objects.add(object);
                }
            }
            ObjectNode changed = coco.deepCopy();
            changed.set("annotations", objects);
            changed.putArray("categories").addObject().put("id", id).put("name", name);
            JSON.writeValue(data.resolve(file).toFile(), changed);
        }
        return data;
    }

    private static List<String> classes(Path run) {
        Path file = run.resolve("checkpoints/best.safetensors");
        return ModelSpec.fromMetadata(Checkpoints.open(file).metadata(), "best").classes();
    }

    @Test
    void extendsARunTwice() throws IOException {
        TinyRun tiny = TinyRun.shared();
        List<String> old = classes(tiny.run());
        Path once = folder.resolve("once");
        CommandResult first =
                saccade(
                        "extend",
                        tiny.run(),
                        "--data",
                        newData(tiny, folder.resolve("medals"), old.get(1), "medal"),
                        "--replay",
                        3,
                        "--epochs",
                        1,
                        "--max-drop",
                        TOY_DROP,
                        "--out",
                        once);
        assertEquals(0, first.code(), first.err());
        assertTrue(
                first.err().contains("new classes: medal; old classes: " + old.get(0)),
                first.err());
        assertTrue(first.out().contains("medal                    AP"), first.out());
        assertEquals(Stream.concat(old.stream(), Stream.of("medal")).toList(), classes(once));
        assertTrue(Files.readString(once.resolve("report.html")).contains("Added classes"));
        JsonNode report = JSON.readTree(once.resolve("extension.json").toFile());
        assertEquals(4, report.at("/classes/old_classes").size());
        assertEquals(2, report.get("trainings").asInt());
        assertEquals(3, report.at("/replayed_images/images").asInt());
        assertFalse(Files.exists(once.resolve("checkpoints/last.safetensors")));
        for (String command : List.of("eval", "report")) {
            CommandResult output = saccade(command, once);
            assertEquals(0, output.code(), command + ": " + output.err());
        }
        CommandResult resumed = saccade("train", once, "--resume");
        assertEquals(2, resumed.code());
        assertTrue(resumed.err().contains("has only its best weights"), resumed.err());

        // The second extension works without the old training images, and stores none.
        Path twice = folder.resolve("twice");
        CommandResult second =
                saccade(
                        "extend",
                        once,
                        "--data",
                        newData(tiny, folder.resolve("cards"), old.get(2), "card"),
                        "--disjoint",
                        "--replay",
                        2,
                        "--epochs",
                        1,
                        "--max-drop",
                        TOY_DROP,
                        "--out",
                        twice);
        assertEquals(0, second.code(), second.err());
        assertEquals(6, classes(twice).size());
        assertTrue(second.err().contains("new images and 2 replayed images"), second.err());
        // Images without the new class are not trained on.
        assertTrue(second.err().contains("without labeled objects"), second.err());
    }

    @Test
    void extendsWithoutReplay() throws IOException {
        TinyRun tiny = TinyRun.shared();
        Path out = folder.resolve("out");
        Path data = newData(tiny, folder.resolve("medals"), classes(tiny.run()).get(1), "medal");
        Path train = data.resolve("annotations_train.json");
        Path val = data.resolve("annotations_val.json");
        byte[] swapped = Files.readAllBytes(train);
        Files.copy(val, train, StandardCopyOption.REPLACE_EXISTING);
        Files.write(val, swapped);
        CommandResult output =
                saccade(
                        "extend",
                        tiny.run(),
                        "--data",
                        data,
                        "--replay",
                        0,
                        "--epochs",
                        1,
                        "--max-drop",
                        TOY_DROP,
                        "--out",
                        out);
        assertEquals(0, output.code(), output.err());
        // Validation images of the run are new training images.
        assertTrue(output.err().contains("otherwise metrics on the validation set"), output.err());
        assertFalse(Files.exists(out.resolve("replay")));
        assertTrue(Files.exists(out.resolve("labels/new.json")));
    }

    @Test
    void deletesAllFilesIfStopped() throws IOException, InterruptedException {
        TinyRun tiny = TinyRun.shared();
        Path data = newData(tiny, folder.resolve("medals"), classes(tiny.run()).get(1), "medal");
        Path out = folder.resolve("out");
        Path unfinished = folder.resolve("out.unfinished");
        Process process =
                CommandResult.process(
                                "extend",
                                tiny.run(),
                                "--data",
                                data,
                                "--epochs",
                                9999,
                                "--out",
                                out)
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("log").toFile())
                        .start();
        while (process.isAlive() && !Files.exists(unfinished.resolve("first/metrics.jsonl"))) {
            Thread.sleep(50);
        }
        process.destroy();
        process.waitFor();
        String log = Files.readString(folder.resolve("log"));
        assertTrue(log.contains("interrupted; no run was written"), log);
        assertFalse(Files.exists(out));
        assertFalse(Files.exists(unfinished));
    }

    @Test
    void reportsAllRejectedOptions() throws IOException {
        CommandResult output =
                saccade(
                        "extend",
                        TinyRun.shared().run(),
                        "--data",
                        folder,
                        "--replay",
                        5_000_000,
                        "--max-drop",
                        "NaN",
                        "--epochs",
                        0);
        assertEquals(2, output.code());
        for (String name : List.of("replay: got 5000000", "max_drop: got NaN", "epochs: got 0")) {
            assertTrue(output.err().contains(name), output.err());
        }
    }

    @Test
    void rejectsDataWithoutNewClasses() throws IOException {
        TinyRun tiny = TinyRun.shared();
        Path out = folder.resolve("out");
        String name = classes(tiny.run()).get(1);
        CommandResult known = saccade("extend", tiny.run(), "--data", tiny.scenes(), "--out", out);
        assertEquals(2, known.code());
        assertTrue(known.err().contains("has no objects of a new class"), known.err());
        Path similar =
                newData(tiny, folder.resolve("similar"), name, Ascii.toUpperCase(name) + "_");
        CommandResult spelled = saccade("extend", tiny.run(), "--data", similar, "--out", out);
        assertTrue(spelled.err().contains("differs from class \"" + name), spelled.err());
        Files.delete(similar.resolve("annotations_val.json"));
        CommandResult whole = saccade("extend", tiny.run(), "--data", similar, "--out", out);
        assertTrue(whole.err().contains("has no validation set"), whole.err());
        assertFalse(Files.exists(out));
    }

    @Test
    void rejectsMissingTrainingImagesAndChangedLabels() throws IOException {
        TinyRun tiny = TinyRun.shared();
        List<String> old = classes(tiny.run());
        Path data = newData(tiny, folder.resolve("medals"), old.get(1), "medal");
        Path run = folder.resolve("run");
        Files.createDirectories(run.resolve("checkpoints"));
        Files.copy(
                tiny.run().resolve("checkpoints/best.safetensors"),
                run.resolve("checkpoints/best.safetensors"));
        String config = Files.readString(tiny.run().resolve("config.yaml"));
        Files.writeString(
                run.resolve("config.yaml"), config.replace("annotations_train", "deleted"));
        CommandResult moved = saccade("extend", run, "--data", data);
        assertEquals(2, moved.code());
        assertTrue(moved.err().contains("run: its training images cannot be"), moved.err());
        assertTrue(moved.err().contains("see --replay of saccade extend"), moved.err());

        Files.writeString(
                run.resolve("config.yaml"), config.replace(tiny.scenes().toString(), "moved"));
        CommandResult lost = saccade("extend", run, "--data", data);
        assertEquals(2, lost.code());
        assertTrue(lost.err().contains("run: its validation images cannot be"), lost.err());
        assertFalse(lost.err().contains("see --data"), lost.err());

        for (String part : List.of("train", "val")) {
            String file = "annotations_" + part + ".json";
            Path changed = folder.resolve(file);
            Files.writeString(
                    changed,
                    Files.readString(tiny.scenes().resolve(file)).replace(old.get(0), "badge"));
            Files.writeString(run.resolve("config.yaml"), config.replace(file, changed.toString()));
            CommandResult renamed = saccade("extend", run, "--data", data);
            assertEquals(2, renamed.code());
            String set = part.equals("val") ? "validation" : "training";
            assertTrue(
                    renamed.err().contains("run: the " + set + " set has classes [badge"),
                    renamed.err());
        }
        assertFalse(Files.exists(folder.resolve("run_extended")));
    }

    @Test
    void rejectsDataWithoutValidationObjectsOfNewClasses() throws IOException {
        TinyRun tiny = TinyRun.shared();
        List<String> old = classes(tiny.run());
        Path data = newData(tiny, folder.resolve("medals"), old.get(1), "medal");
        for (String file : List.of("annotations_train.json", "annotations_val.json")) {
            ObjectNode coco = (ObjectNode) JSON.readTree(data.resolve(file).toFile());
            coco.withArray("categories").addObject().put("id", 99).put("name", old.get(0));
            if (file.contains("val")) {
                coco.get("annotations")
                        .forEach(object -> ((ObjectNode) object).put("category_id", 99));
            }
            JSON.writeValue(data.resolve(file).toFile(), coco);
        }
        CommandResult output =
                saccade("extend", tiny.run(), "--data", data, "--out", folder.resolve("out"));
        assertEquals(2, output.code());
        assertTrue(
                output.err().contains("have no objects of the new classes [medal]"), output.err());
    }
}
