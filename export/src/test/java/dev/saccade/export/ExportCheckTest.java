package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Compares exported models with the originals. */
class ExportCheckTest {

    private static final Size SIZE = new Size(96, 128);

    private static final NDManager manager = NDManager.newBaseManager("PyTorch");
    private static Model<?> detector;
    private static ModelExport ofOneSize;

    @TempDir private Path folder;

    @BeforeAll
    static void record() {
        assumeTrue(Kernels.status().loaded());
        manager.getEngine().setRandomSeed(5);
        detector = TinyModel.of(TinyModel.RESNET, TinyModel.FPN, TinyModel.MASK_RCNN, manager);
        ofOneSize = ModelExport.of(detector).size(SIZE).record();
    }

    @AfterAll
    static void close() {
        manager.close();
    }

    private ImageBatch batch() {
        ImageInfo image = ImageInfo.of(0, "a.png", new Size(90, 120)).padded(SIZE);
        NDArray pixels = manager.zeros(new Shape(1, 3, 96, 128));
        pixels.set(
                new NDIndex(":, :, :90, :120"),
                manager.randomUniform(-1, 1, new Shape(1, 3, 90, 120)));
        return new ImageBatch(pixels, List.of(image));
    }

    private ExportCheck check(ModelExport export, ExportFormat format) {
        Path file = folder.resolve("model" + format.suffix());
        export.write(format, file);
        return new ExportCheck(export, format, file);
    }

    @Test
    void exportEqualsTheModel() {
        ModelExport export = ModelExport.of(detector).record();
        ImageBatch batch = batch();
        Instances expected = (Instances) detector.predict(batch).get(0);
        assertTrue(expected.size() > 0);
        for (ExportFormat format : ExportFormat.values()) {
            try (ExportCheck check = check(export, format)) {
                assertIsNear(check.deviation(batch, ExportCheck.limit(Precision.FLOAT32)));
                Instances got = (Instances) check.predict(detector, batch).get(0);
                assertEquals(expected.size(), got.size());
                for (int i = 0; i < got.size(); i++) {
                    assertEquals(expected.score(i), got.score(i), 1e-5);
                    assertEquals(new Size(90, 120), got.mask(i).size());
                }
            }
        }
    }

    @Test
    void temporaryFilesAreNextToTheModel() throws IOException {
        ofOneSize.open(ExportFormat.ONNX, ofOneSize.results(), folder).close();
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(0, files.count());
        }
        Path missing = folder.resolve("missing");
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> ofOneSize.open(ExportFormat.ONNX, ofOneSize.results(), missing));
        assertTrue(e.getMessage().startsWith(missing + ": cannot be written"), e.getMessage());
    }

    private static void assertIsNear(double deviation) {
        assertTrue(deviation < 1e-5 && deviation > 0, deviation + "");
    }

    @ParameterizedTest
    @EnumSource
    void namesTheDeviatingLayer(ExportFormat format) {
        NDArray weight =
                detector.namedParameters().get("neck.lateral_convs.1.conv.weight").getArray();
        NDArray before = weight.duplicate();
        weight.muli(1.01);
        try (ExportCheck check = check(ofOneSize, format)) {
            ImageBatch batch = batch();
            SaccadeException e =
                    assertThrows(SaccadeException.class, () -> check.deviation(batch, 1e-4));
            assertEquals(SaccadeException.Kind.USER, e.kind());
            assertTrue(e.getMessage().startsWith("a.png: "), e.getMessage());
            assertTrue(
                    e.getMessage().contains("conv2d of neck.lateral_convs.1.conv.weight, by "),
                    e.getMessage());
        } finally {
            before.copyTo(weight);
        }
    }

    @Test
    void includesNormalization() {
        List<Transform> transforms =
                List.of(
                        new Normalize(List.of(10.0, 20.0, 30.0), List.of(50.0, 60.0, 70.0)),
                        new Pad(List.of(), 32));
        ModelExport export = ModelExport.of(detector).normalization(transforms).record();
        for (ExportFormat format : ExportFormat.values()) {
            try (ExportCheck check = check(export, format)) {
                assertIsNear(check.deviation(batch(), 1e-4));
                NDArray image = manager.randomUniform(-2, 2, new Shape(1, 3, 75, 97));
                ImageInfo info = ImageInfo.of(0, "not a multiple of 32", new Size(75, 97));
                ImageBatch padded = new ImageBatch(check.padded(image), List.of(info));
                assertIsNear(check.deviation(padded, 1e-4));
            }
            try (ExportedProgram program = format.open(folder.resolve("model" + format.suffix()))) {
                // Pixels outside of an image, here the right half, do not count.
                NDArray images = manager.randomUniform(0, 255, new Shape(1, 3, 90, 240));
                NDArray sizes = manager.create(new float[] {120, 90}, new Shape(1, 2));
                NDArray other = images.duplicate();
                other.set(new NDIndex(":, :, :, 120:"), 77);
                assertEquals(
                        program.run(new NDList(images, sizes)).get(2),
                        program.run(new NDList(other, sizes)).get(2));
            }
        }
    }

    @Test
    void rejectsTransformsWithoutNormalize() {
        ModelExport.Settings settings = ModelExport.of(detector);
        List<Transform> transforms = List.of(new Pad(List.of(), 32));
        String message =
                assertThrows(SaccadeException.class, () -> settings.normalization(transforms))
                        .getMessage();
        assertTrue(message.contains("normalize"), message);
    }

    @ParameterizedTest
    @ValueSource(ints = {18, 21})
    void laterOpsets(int opset) {
        ModelExport export = new ModelExport(ofOneSize.settings().opset(opset), ofOneSize.graph());
        try (ExportCheck check = check(export, ExportFormat.ONNX)) {
            assertTrue(check.deviation(batch(), 1e-4) > 0);
        }
    }

    @Test
    void rejectsUnsupportedOperators() {
        ModelExport.Settings settings = ModelExport.of(detector);
        assertEquals(
                "opset: got 22, expected 17 to 21",
                assertThrows(SaccadeException.class, () -> settings.opset(22)).getMessage());
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void sixteenBits(Precision precision) {
        for (Model<?> model :
                List.of(
                        TinyModel.of(TinyModel.SWIN, "null", TinyModel.UPERNET, manager),
                        detector)) {
            assertComputes(model, precision);
        }
    }

    private void assertComputes(Model<?> model, Precision precision) {
        ModelExport export = ModelExport.of(model).size(SIZE).precision(precision).record();
        List<ExportFormat> formats =
                precision == Precision.FLOAT16
                        ? List.of(ExportFormat.values())
                        : List.of(ExportFormat.TORCHSCRIPT);
        for (ExportFormat format : formats) {
            try (ExportCheck check = check(export, format)) {
                ImageBatch batch = batch();
                check.deviation(batch, ExportCheck.limit(precision));
                if (model instanceof DetectionModel) {
                    assertEquals(1, check.predict(model, batch).size());
                }
            }
        }
    }

    @Test
    void rejectsBfloat16InOnnx() {
        ModelExport.Settings settings = ModelExport.of(detector).precision(Precision.BFLOAT16);
        List<ExportFormat> formats = List.of(ExportFormat.ONNX);
        SaccadeException e =
                assertThrows(
                        SaccadeException.class, () -> settings.record(formats, ProgressBar.NONE));
        assertTrue(e.getMessage().contains("use float16 or float32"), e.getMessage());
    }
}
