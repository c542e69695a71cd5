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
        assertEquals(3, report.at("/replayed_images/images").asInt());
        assertFalse(Files.exists(once.resolve("checkpoints/last.safetensors")));
        for (String command : List.of("eval", "report")) {
            CommandResult output = saccade(command, once);
            assertEquals(0, output.code(), command + ": " + output.err());
        }

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
        assertTrue(
                second.err().contains("train 1 epoch on 8 new images and 2 replayed images"),
                second.err());
    }

    @Test
    void extendsWithoutReplay() throws IOException {
        TinyRun tiny = TinyRun.shared();
        Path out = folder.resolve("out");
        CommandResult output =
                saccade(
                        "extend",
                        tiny.run(),
                        "--data",
                        newData(
                                tiny,
                                folder.resolve("medals"),
                                classes(tiny.run()).get(1),
                                "medal"),
                        "--replay",
                        0,
                        "--epochs",
                        1,
                        "--max-drop",
                        TOY_DROP,
                        "--out",
                        out);
        assertEquals(0, output.code(), output.err());
        assertFalse(Files.exists(out.resolve("replay")));
        assertTrue(Files.exists(out.resolve("labels/new.json")));
    }

    @Test
    void rejectsDataWithoutNewClasses() throws IOException {
        TinyRun tiny = TinyRun.shared();
        Path out = folder.resolve("out");
        String name = classes(tiny.run()).get(1);
        CommandResult known = saccade("extend", tiny.run(), "--data", tiny.scenes(), "--out", out);
        assertEquals(2, known.code());
        assertTrue(known.err().contains("has no objects of a new class"), known.err());
        Path similar = newData(tiny, folder.resolve("similar"), name, Ascii.toUpperCase(name));
        CommandResult spelled = saccade("extend", tiny.run(), "--data", similar, "--out", out);
        assertTrue(spelled.err().contains("in case only"), spelled.err());
        Files.delete(similar.resolve("annotations_val.json"));
        CommandResult whole = saccade("extend", tiny.run(), "--data", similar, "--out", out);
        assertTrue(whole.err().contains("has no validation set"), whole.err());
        assertFalse(Files.exists(out));
    }
}
