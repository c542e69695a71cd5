package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.nn.Quantization;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

class QuantizeCommandTest {

    @TempDir static Path folder;

    private static TinyRun tiny;

    @BeforeAll
    static void train() throws IOException {
        assumeTrue(Quantization.isFast());
        tiny = TinyRun.shared();
    }

    /** Quantizes the shared run, with any drop, into a file. */
    private static CommandResult quantize(Path out, Object... options) {
        Object[] args = new Object[options.length + 6];
        System.arraycopy(options, 0, args, 6, options.length);
        System.arraycopy(
                new Object[] {"quantize", tiny.run(), "--max-drop", 1, "--out", out},
                0,
                args,
                0,
                6);
        return saccade(args);
    }

    @Test
    void commandsAcceptTheQuantizedCheckpoint() throws IOException {
        Path file = tiny.run().resolve("checkpoints").resolve("quantized.safetensors");
        CommandResult output = quantize(file, "--json");
        try {
            assertEquals(0, output.code(), output.err());
            assertTrue(output.err().contains("only 8 suitable training images"), output.err());
            JsonNode json = new ObjectMapper().readTree(output.out());
            assertEquals(8, json.get("training_images").asInt());
            assertEquals("bfloat16", json.get("precision").asText());
            assertEquals(4, json.get("validation_images").asInt());
            assertEquals("float32", json.get("original_precision").asText());
            for (String name : List.of("float32", "bfloat16", "quantized")) {
                JsonNode model = json.get("models").get(name);
                assertTrue(model.get("metrics").get("AP").isNumber(), output.out());
                assertTrue(model.get("ms_per_image").asDouble() > 0, output.out());
                assertTrue(model.get("memory_mib").asInt() > 0, output.out());
            }
            assertTrue(json.get("quantized_layers").size() > 5, output.out());
            assertEquals(0, json.get("float_layers").size(), output.out());

            Path photo = tiny.photo(folder.resolve("photo.jpg"));
            CommandResult found = saccade("predict", file, photo, "--out", folder.resolve("out"));
            assertEquals(0, found.code(), found.err());
            assertTrue(found.err().contains("quantized model: "), found.err());
            CommandResult evaluated = saccade("eval", file, "--json");
            assertEquals(0, evaluated.code(), evaluated.err());
            assertEquals(
                    json.at("/models/quantized/metrics/AP"),
                    new ObjectMapper().readTree(evaluated.out()).get("metrics").get("AP"));

            Path exported = folder.resolve("exported");
            CommandResult export =
                    saccade("export", file, "--format", "torchscript", "--out", exported);
            assertEquals(0, export.code(), export.err());
            assertTrue(export.out().contains(": exported without quantization"), export.out());

            CommandResult again = quantize(file);
            assertEquals(2, again.code());
            assertTrue(again.err().contains(file + ": already exists"), again.err());
            assertTrue(again.err().contains("see --out and --overwrite of "), again.err());
            CommandResult replaced = quantize(file, "--overwrite", "--images", 1);
            assertEquals(0, replaced.code(), replaced.err());
            assertTrue(replaced.out().contains("ms per image"), replaced.out());
            CommandResult twice =
                    saccade("quantize", file, "--out", folder.resolve("b.safetensors"));
            assertEquals(2, twice.code());
            assertTrue(twice.err().contains("already quantized"), twice.err());
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Test
    void evalFindsTheRunOfTheDefaultFile() throws IOException {
        Path file = tiny.run().resolve("quantized.safetensors");
        try {
            CommandResult output = saccade("quantize", tiny.run(), "--max-drop", 1);
            assertEquals(0, output.code(), output.err());
            CommandResult evaluated = saccade("eval", file);
            assertEquals(0, evaluated.code(), evaluated.err());
            String name = tiny.run().getFileName() + "-quantized";
            assertEquals(name, RunArgument.of(file).exportName());
            CommandResult bench = saccade("bench", "model", file, "--runs", 1, "--fused-only");
            assertTrue(bench.out().matches("(?s).*  quantized +\\d+ layers.*"), bench.out());
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Test
    void reportsAllWrongOptionsTogether() {
        Path out = folder.resolve("missing").resolve("q.onnx");
        CommandResult output =
                saccade("quantize", tiny.run(), "--max-drop", "NaN", "--images", 0, "--out", out);
        assertEquals(2, output.code());
        assertTrue(output.err().contains("4 problems"), output.err());
        assertTrue(output.err().contains("max-drop: got NaN"), output.err());
        assertTrue(output.err().contains("images: got 0"), output.err());
        assertTrue(output.err().contains("ends in .safetensors"), output.err());
        assertTrue(output.err().contains("does not exist"), output.err());
        assertFalse(output.err().contains("\tat "), output.err());
    }

    @Test
    void needsFusedOperators() throws Exception {
        Path out = folder.resolve("portable.safetensors");
        ProcessBuilder process = CommandResult.process("quantize", tiny.run(), "--out", out);
        process.environment().put("JAVA_TOOL_OPTIONS", "-Dsaccade.kernels=portable");
        Process command = process.redirectErrorStream(true).start();
        String printed = new String(command.getInputStream().readAllBytes(), UTF_8);
        assertEquals(2, command.waitFor(), printed);
        assertTrue(printed.contains("need the fused operators, which are off"), printed);
        assertFalse(Files.exists(out));
    }

    @Test
    void reportsUnknownLayersWithTheFile() throws IOException {
        Path file = folder.resolve("quantized.safetensors");
        assertEquals(0, quantize(file).code());
        Path photo = tiny.photo(folder.resolve("scene.jpg"));
        byte[] bytes = Files.readAllBytes(file);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        // The checksum does not match either, so remove it by renaming its key.
        String unknown =
                text.replace("saccade.crc32c", "saccade.crc32x")
                        .replaceFirst("(quantized_layers.{1,20}?)backbone", "$1backbonx");
        Files.write(file, unknown.getBytes(StandardCharsets.ISO_8859_1));
        CommandResult output = saccade("predict", file, photo, "--out", folder.resolve("seen"));
        assertEquals(2, output.code(), output.err());
        assertTrue(
                output.err().contains("quantized_layers: got 1 unknown names such as [backbonx"),
                output.err());

        String noList = text.replace("saccade.crc32c", "saccade.crc32x");
        int at = noList.indexOf("quantized_layers:") + "quantized_layers:".length();
        int end = noList.indexOf('"', at);
        String value = " 5";
        noList = noList.substring(0, at) + value + " ".repeat(end - at - 2) + noList.substring(end);
        Files.write(file, noList.getBytes(StandardCharsets.ISO_8859_1));
        output = saccade("predict", file, photo, "--out", folder.resolve("seen"));
        assertEquals(2, output.code(), output.err());
        assertTrue(output.err().contains("quantized.safetensors"), output.err());
        assertTrue(output.err().contains("quantized_layers"), output.err());
    }
}
