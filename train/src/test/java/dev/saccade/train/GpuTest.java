package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Text;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.Detector;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.logs.MemoryUse;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import javax.imageio.ImageIO;

/** The same runs on the CPU and on a GPU; skipped where there is none. */
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
    static void requireDevice() {
        DeviceUnderTest.device();
    }

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder.resolve("photos"));
    }

    private Training training(String device, String... overrides) {
        RunConfig config = RunConfig.parse(CONFIG).with(overrides).with("device=" + device);
        return Training.of(config, photos);
    }

    private static List<Double> losses(Training training, Path run) {
        List<Double> losses = new ArrayList<>();
        training.start(
                run,
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        losses.add(step.loss());
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

    @ParameterizedTest
    @CsvSource({
        "log_interval=1, 0.01",
        "'ema={decay: 0.9}', 0.01",
        "accumulation=2, 0.01",
        "precision=bfloat16, 0.1",
        "precision=float16, 0.1"
    })
    void learnsWhatTheCpuLearns(String setting, double tolerance) {
        List<Double> expected =
                losses(
                        training("cpu", setting.startsWith("precision") ? "epochs=1" : setting),
                        folder.resolve("cpu"));
        List<Double> losses =
                losses(training(DeviceUnderTest.name(), setting), folder.resolve("gpu"));
        assertEquals(expected.size(), losses.size());
        for (int step = 0; step < losses.size(); step++) {
            double loss = expected.get(step);
            assertEquals(loss, losses.get(step), tolerance * loss, "step " + step);
        }
        Map<String, Tensor> weights = last(folder.resolve("cpu"));
        Map<String, Tensor> learned = last(folder.resolve("gpu"));
        weights.forEach(
                (name, tensor) ->
                        assertArrayEquals(
                                values(tensor),
                                values(learned.get(name)),
                                (float) tolerance,
                                name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"float32", "bfloat16", "float16"})
    void resumesOnAnotherDevice(String precision) throws IOException {
        Path run = folder.resolve("run");
        String gpu = DeviceUnderTest.name();
        String[] settings = {"ema={decay: 0.9}", "precision=" + precision, "epochs=1"};
        assertEquals(Outcome.FINISHED, training(gpu, settings).start(run));
        settings[2] = "epochs=2";
        assertEquals(Outcome.FINISHED, training("cpu", settings).resume(run));
        settings[2] = "epochs=3";
        assertEquals(Outcome.FINISHED, training(gpu, settings).resume(run));
        String log = Files.readString(new RunFolder(run).log());
        assertTrue(log.contains("step 12/12"), log);
        if (DeviceUnderTest.device().isGpu()) {
            assertTrue(log.contains("training on cuda:"), log);
        }
    }

    @Test
    void findsWhatTheCpuFinds() {
        Path run = folder.resolve("run");
        training(DeviceUnderTest.name(), "epochs=5").start(run);
        Path weights = new RunFolder(run).last();
        ImageSource photo = ImageSource.of(photos.images().get(0).file());
        try (Detector cpu = Detector.load(weights, Device.cpu());
                Detector gpu = Detector.load(weights, DeviceUnderTest.device())) {
            Instances expected = cpu.predict(photo);
            Instances found = gpu.predict(photo);
            assertEquals(expected.size(), found.size());
            assertArrayEquals(expected.boxes().toArray(), found.boxes().toArray(), 0.1f);
        }
    }

    @Test
    void memoryStaysFlatOver300Steps() {
        Device device = DeviceUnderTest.device();
        List<Long> bytes = new ArrayList<>();
        List<Integer> arrays = new ArrayList<>();
        training(DeviceUnderTest.name(), "iterations=300", "log_interval=100")
                .start(
                        folder.resolve("run"),
                        new Hook() {
                            @Override
                            public void afterStep(Run run, StepReport step) {
                                bytes.add(TensorMemory.of(device).orElseThrow().bytes());
                                arrays.add(MemoryUse.now(run.manager()).arrays());
                            }
                        });
        assertEquals(300, bytes.size());
        long early = bytes.subList(10, 50).stream().mapToLong(use -> use).max().orElseThrow();
        long late = bytes.subList(250, 300).stream().mapToLong(use -> use).max().orElseThrow();
        assertTrue(late <= early, Text.format("%d bytes of tensors, then %d", early, late));
        assertTrue(arrays.get(299) <= arrays.get(20), arrays::toString);
    }

    /** Objects of one pixel, of none, of all; slivers, odd edges and one that is huge. */
    private record HostilePhotos(List<ImageFile> images) implements Dataset {

        private static final List<Size> SIZES =
                List.of(
                        new Size(33, 47),
                        new Size(5, 400),
                        new Size(401, 3),
                        new Size(32, 32),
                        new Size(1499, 2003));

        static HostilePhotos in(Path folder) throws IOException {
            List<ImageFile> photos = new ArrayList<>();
            Files.createDirectories(folder);
            for (Size size : SIZES) {
                Path file = folder.resolve(size + ".png");
                ImageIO.write(
                        new BufferedImage(size.width(), size.height(), BufferedImage.TYPE_INT_RGB),
                        "png",
                        file.toFile());
                photos.add(new ImageFile(photos.size() + 1, file, size));
            }
            return new HostilePhotos(photos);
        }

        @Override
        public List<String> classes() {
            return List.of("thing");
        }

        @Override
        public List<Annotation> annotations(int index) {
            Size size = SIZES.get(index);
            return switch (index) {
                case 0, 4 ->
                        List.of(
                                Annotation.of(2L * index, 0, 1, 1, 1, 1),
                                Annotation.of(
                                        2L * index + 1, 0, 0, 0, size.width(), size.height()));
                case 3 -> List.of();
                default -> List.of(Annotation.of(2L * index, 0, 1, 1, 1, 1));
            };
        }
    }

    @Test
    void supportsUnusualSizes() throws IOException {
        HostilePhotos hostile = HostilePhotos.in(folder.resolve("hostile"));
        String device = DeviceUnderTest.name();
        RunConfig config = RunConfig.parse(CONFIG).with("data.batch_size=1");
        List<Double> expected =
                losses(Training.of(config.with("device=cpu"), hostile), folder.resolve("cpu"));
        List<Double> losses =
                losses(
                        Training.of(config.with("device=" + device), hostile),
                        folder.resolve("gpu"));
        for (int step = 0; step < losses.size(); step++) {
            double loss = expected.get(step);
            assertEquals(loss, losses.get(step), 0.01 * Math.max(loss, 1), "step " + step);
        }
        Path weights = new RunFolder(folder.resolve("gpu")).last();
        try (Detector detector = Detector.load(weights, DeviceUnderTest.device())) {
            for (ImageFile photo : hostile.images()) {
                for (float x : detector.predict(ImageSource.of(photo.file())).boxes().toArray()) {
                    assertTrue(Float.isFinite(x), photo.toString());
                }
            }
        }
    }

    @Test
    void reportsErrorsOfTheDevice() {
        Device device = DeviceUnderTest.device();
        long petabyte = 1L << 50;
        TensorMemory.resetPeak(device);
        try (NDManager manager = Libtorch.newManager(device);
                NDArray some = manager.zeros(new Shape(1 << 20))) {
            RuntimeException error =
                    assertThrows(
                            EngineException.class, () -> manager.zeros(new Shape(petabyte / 4)));
            TensorMemory use = TensorMemory.of(device).orElseThrow();
            assertTrue(use.bytes() >= 4 * some.size(), use.toString());
            assertTrue(use.peakBytes() >= use.bytes(), use.toString());
            if (device.isGpu()) {
                assertEquals(petabyte, use.failedBytes());
                assertTrue(use.reservedBytes() >= use.bytes(), use.toString());
            }
            assertTrue(DeviceMemory.of(device).orElseThrow().freeBytes() > 0);
            String told =
                    new StepMemory(device, 1, 2, new Size(64, 64))
                            .explain(error, RunConfig.parse(CONFIG), note -> {})
                            .orElseThrow()
                            .getMessage();
            assertTrue(told.contains(", but " + Devices.name(device) + " has "), told);
        }
    }
}
