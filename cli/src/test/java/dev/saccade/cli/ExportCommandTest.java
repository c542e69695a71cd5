package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.eval.LayerSelection;
import dev.saccade.eval.RecordedMetric;
import dev.saccade.export.ExportFormat;
import dev.saccade.export.ProgramExport;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
        "--format onnx --max-drop 1, --max-drop has an effect only for quantized checkpoints",
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

    /**
     * Writes a checkpoint of which all layers are quantized, and the config of its run.
     *
     * @param recorded best metric of the run
     */
    private Path quantized(double recorded) throws IOException {
        Path best = tiny.run().resolve("checkpoints").resolve("best.safetensors");
        Files.copy(tiny.run().resolve("config.yaml"), folder.resolve("config.yaml"));
        Checkpoint stored = Checkpoints.open(best);
        ModelSpec spec = ModelSpec.fromMetadata(stored.metadata(), best.toString());
        Map<String, String> metadata = new HashMap<>(stored.metadata());
        metadata.put("run.best", Double.toString(recorded));
        try (TrainedModel<?> model = TrainedModel.load(best, Device.cpu())) {
            List<String> layers = Quantization.layers(model.model());
            metadata.putAll(spec.withQuantizedLayers(layers).toMetadata());
        }
        Path file = Files.createDirectory(folder.resolve("checkpoints")).resolve("q.safetensors");
        Checkpoints.save(file, new Checkpoint(stored.tensors(), metadata));
        return file;
    }

    @Test
    void quantizedCheckpointsAreExportedWith8Bits() throws IOException {
        Path floats = folder.resolve("floats");
        CommandResult original =
                saccade("export", tiny.run(), "--format", "onnx", "--images=0", "--out", floats);
        assertEquals(0, original.code(), original.err());
        Path out = folder.resolve("out");
        List<Object> args = List.of("export", quantized(9), "--format", "onnx", "--out", out);
        CommandResult output = saccade(with(args, "--max-drop", 1, "--images", 9));
        assertEquals(0, output.code(), output.err());
        assertTrue(
                output.out().matches("(?s).*quantized: .* in 8 bits, .* 8 training images.*"),
                output.out());
        assertTrue(output.out().matches("(?s).*\nAP +0\\S+ +0\\S+\n.*"), output.out());
        for (String note :
                List.of(
                        "note: found only 8 suitable training images, fewer than the requested 9",
                        "on the training images, but the best of its run is 9.0000",
                        "on the validation images, but the best of its run is 9.0000")) {
            assertTrue(output.out().contains(note), output.out());
        }
        long bytes = Files.size(out.resolve("model.onnx"));
        assertTrue(bytes < 0.8 * Files.size(floats.resolve("model.onnx")), bytes + " bytes");
        JsonNode json = new ObjectMapper().readTree(out.resolve("model.json").toFile());
        assertTrue(json.get("quantized_layers").size() > 5, json.toString());
    }

    @Test
    void largeDropsRejectAQuantizedExport() throws IOException {
        Path checkpoint = quantized(0);
        RunConfig config = RunConfig.load(folder.resolve("config.yaml"));
        ProgramExport.Images training =
                new ProgramExport.Images(DataReports.trainingSet(config, "test"), 2);
        ProgramExport export =
                new ProgramExport(
                        ExportFormat.ONNX,
                        Optional.empty(),
                        false,
                        Precision.FLOAT32,
                        Optional.empty(),
                        Optional.of(training),
                        // No metric improves by 1.
                        Optional.of(
                                new ProgramExport.Calibration(
                                        training,
                                        new LayerSelection(-1),
                                        RecordedMetric.of("AP", Map.of()))),
                        1,
                        Progress::new,
                        new PrintWriter(Writer.nullWriter()));
        Path out = folder.resolve("out");
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> export.write(checkpoint, out));
        assertTrue(
                rejected.getMessage().startsWith("not quantized: on 2 training images, AP drops"),
                rejected.getMessage());
        assertFalse(Files.exists(out));
    }

    @Test
    void quantizedExportsNeedImagesOfARun() throws IOException {
        Path checkpoint = quantized(0);
        Files.delete(folder.resolve("config.yaml"));
        CommandResult output =
                saccade(
                        "export",
                        checkpoint,
                        "--format=onnx",
                        "--images=0",
                        "--precision=float16",
                        "--out",
                        folder.resolve("out"));
        assertEquals(2, output.code());
        assertTrue(output.err().contains("3 problems"), output.err());
        assertTrue(output.err().contains("move the checkpoint to the folder of its run"));
        assertTrue(output.err().contains("--images: got 0"), output.err());
        assertTrue(output.err().contains("compute other layers in float32"), output.err());
    }
}
