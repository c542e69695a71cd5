package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.Detector;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The same run on the CPU and on the first GPU; skipped where there is none. */
@Tag("gpu")
class GpuTest {

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              batch_size: 2
              workers: 1
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            optimizer: {type: adamw, learning_rate: 0.001}
            schedule: {type: constant}
            log_interval: 1
            epochs: 1
            """;

    @TempDir private Path folder;
    private TinyRun.Photos photos;

    @BeforeAll
    static void requireGpu() {
        Devices.here()
                .fault(Device.gpu())
                .ifPresent(why -> abort("tests of GPUs are skipped: " + why));
    }

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder.resolve("photos"));
    }

    private Training training(String... overrides) {
        return Training.of(RunConfig.parse(CONFIG).with(overrides), photos);
    }

    private static List<Double> losses(Training training, Path run) {
        List<Double> losses = new ArrayList<>();
        training.start(
                run,
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        losses.add(step.logVars().loss());
                    }
                });
        return losses;
    }

    private static Map<String, Tensor> last(Path run) {
        return Checkpoints.open(new RunFolder(run).last()).tensors();
    }

    private static float[] values(Tensor tensor) {
        try (NDManager manager = Libtorch.newManager(Device.cpu());
                NDArray array = tensor.array(manager)) {
            return array.toFloatArray();
        }
    }

    @Test
    void learnsWhatTheCpuLearns() {
        List<Double> cpu = losses(training("device=cpu"), folder.resolve("cpu"));
        List<Double> gpu = losses(training("device=cuda"), folder.resolve("gpu"));
        assertEquals(4, gpu.size());
        for (int step = 0; step < gpu.size(); step++) {
            assertEquals(cpu.get(step), gpu.get(step), 1e-2 * cpu.get(step), "step " + step);
        }
        Map<String, Tensor> expected = last(folder.resolve("cpu"));
        Map<String, Tensor> learned = last(folder.resolve("gpu"));
        assertEquals(expected.keySet(), learned.keySet());
        expected.forEach(
                (name, tensor) ->
                        assertArrayEquals(values(tensor), values(learned.get(name)), 1e-2f, name));
    }

    @Test
    void aRunGoesFromOneDeviceToAnother() throws IOException {
        Path run = folder.resolve("run");
        assertEquals(Outcome.FINISHED, training("device=cuda").start(run));
        assertEquals(Outcome.FINISHED, training("device=cpu", "epochs=2").resume(run));
        assertEquals(Outcome.FINISHED, training("device=cuda", "epochs=3").resume(run));
        String log = Files.readString(new RunFolder(run).log());
        assertTrue(log.contains("computing on cuda:0"), log);
        assertTrue(log.contains("step 12/12"), log);
    }

    @Test
    void findsWhatTheCpuFinds() {
        Path run = folder.resolve("run");
        training("device=cuda", "epochs=5").start(run);
        Path weights = new RunFolder(run).last();
        ImageSource photo = ImageSource.of(photos.photos().get(0).file());
        try (Detector cpu = Detector.load(weights, Device.cpu());
                Detector gpu = Detector.load(weights, Device.gpu())) {
            Instances expected = cpu.predict(photo);
            Instances found = gpu.predict(photo);
            assertEquals(expected.size(), found.size());
            assertArrayEquals(expected.boxes().toArray(), found.boxes().toArray(), 0.1f);
        }
    }
}
