package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.ops.script.Kernels;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class ExportCommandTest {

    private static TinyRun tiny;

    @TempDir Path folder;

    @BeforeAll
    static void train() throws IOException {
        assumeTrue(Kernels.status().loaded());
        tiny = TinyRun.shared();
    }

    @ParameterizedTest
    @CsvSource({"onnx, model.onnx, ONNX Runtime", "torchscript, model.pt, libtorch"})
    void exportsAreComparedOnImagesOfTheRun(String format, String name, String runtime)
            throws IOException {
        Path out = folder.resolve("out");
        CommandResult output = saccade("export", tiny.run(), "--format", format, "--out", out);
        assertEquals(0, output.code(), output.err());
        assertTrue(Files.size(out.resolve(name)) > 100_000);
        assertTrue(output.out().contains(name + ": "), output.out());
        assertTrue(output.out().contains(runtime), output.out());
        assertTrue(output.out().contains("4 images of the run: largest deviation "));
        String[] ap =
                output.out().replaceAll("(?s).*\nAP +(\\S+) +(\\S+)\n.*", "$1 $2").split(" ", -1);
        assertEquals(ap[0], ap[1], output.out());

        JsonNode json = new ObjectMapper().readTree(out.resolve("model.json").toFile());
        assertEquals("detection", json.get("task").asText());
        assertEquals(format, json.get("format").asText());
        assertEquals(4, json.get("classes").size());
        assertEquals("resize", json.get("transforms").get(0).get("type").asText());
        assertEquals("sizes", json.get("inputs").get(1).get("name").asText());
        assertEquals("counts", json.get("outputs").get(3).get("name").asText());
        assertTrue(json.get("image_size").isNull());

        CommandResult again = saccade("export", tiny.run(), "--format", format, "--out", out);
        assertEquals(2, again.code());
        assertTrue(again.err().contains("not empty"), again.err());
        assertTrue(again.err().contains("see --out of saccade export"), again.err());
        assertTrue(json.get("score_threshold").isNumber());
        assertTrue(json.get("class_score_thresholds").isObject());
    }

    @Test
    void imagesOfOneSize() throws IOException {
        Path out = folder.resolve("out");
        List<Object> sized = List.of("export", tiny.run(), "--format", "onnx", "--size");
        CommandResult other = saccade(with(sized, "640x480", "--out", out));
        assertEquals(2, other.code());
        assertTrue(
                other.err().matches("(?s).*size: got 640x480, but the images .*are \\d+x.*"),
                other.err());
        assertFalse(Files.exists(out), "what was not compared is gone");
        CommandResult madeUp = saccade(with(sized, "64x96", "--out", out, "--images", 0));
        assertEquals(0, madeUp.code(), madeUp.err());
        assertTrue(madeUp.out().contains("images of 64x96"), madeUp.out());
        assertTrue(madeUp.out().contains("1 random image: largest"), madeUp.out());
    }

    private static Object[] with(List<Object> first, Object... rest) {
        List<Object> all = new ArrayList<>(first);
        all.addAll(List.of(rest));
        return all.toArray();
    }

    @Test
    void exportedWeightsLoadLikeCheckpoints() throws IOException {
        Path out = folder.resolve("weights");
        CommandResult output =
                saccade(
                        "export",
                        tiny.run(),
                        "--format=safetensors",
                        "--precision=float16",
                        "--out",
                        out);
        assertEquals(0, output.code(), output.err());
        Path file = out.resolve("model.safetensors");
        Path best = tiny.run().resolve("checkpoints").resolve("best.safetensors");
        assertTrue(Files.size(file) < Files.size(best));
        Path photo = tiny.photo(folder.resolve("photo.jpg"));
        CommandResult seen = saccade("predict", file, photo, "--out", folder.resolve("seen"));
        assertEquals(0, seen.code(), seen.err());
    }

    @ParameterizedTest
    @CsvSource({
        "--format onnx --size 64x96 --dynamic, got --dynamic and --size",
        "--format torchscript --opset 17, --opset has no effect for torchscript",
        "--format onnx --opset 9, 'opset: got 9, expected 17 to 21'",
        "--format onnx --images -1, '--images: got -1, expected 0 or more'",
        "--format onnx --precision int8, '--precision: got int8, expected float32'",
        "--format onnx --precision bfloat16, ONNX Runtime has no bfloat16",
        "--format tflite, 'got tflite, expected one of torchscript, onnx, djl-serving, safetensors'",
        "--format djl-serving --size 64x96, --size has no effect for djl-serving"
    })
    void rejectsInvalidOptionsBeforeWriting(String options, String message) {
        Path out = folder.resolve("out");
        List<Object> given = new ArrayList<>(List.of("export", tiny.run()));
        given.addAll(List.of((Object[]) options.split(" ", -1)));
        CommandResult output = saccade(with(given, "--out", out));
        assertEquals(2, output.code(), output.err());
        assertTrue(output.err().contains(message), output.err());
        assertFalse(Files.exists(out));
    }
}
