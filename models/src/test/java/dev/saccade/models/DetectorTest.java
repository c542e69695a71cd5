package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;
import dev.saccade.models.tiles.TiledObjects;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opencv.core.Mat;
import org.opencv.core.Rect;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.imageio.ImageIO;

/** Detectors loaded from files, with and without test-time augmentation. */
class DetectorTest {

    private static final int WIDTH = 96;
    private static final int HEIGHT = 64;
    private static final List<Integer> OWN = List.of(WIDTH, HEIGHT);
    private static final List<Integer> LARGER = List.of(192, 128);

    private static final String MODEL =
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8}
            """;

    private static final Map<String, String> HEADS =
            Map.of(
                    "retinanet",
                    """
                    head: {type: retinanet, feat_channels: 8, stacked_convs: 1, nms: {score_thr: %s}}
                    """,
                    "mask_rcnn",
                    """
                    head:
                      type: mask_rcnn
                      rpn_head: {feat_channels: 8}
                      bbox_head: {fc_out_channels: 8}
                      mask_head: {num_convs: 1, conv_out_channels: 8}
                      nms: {score_thr: %s}
                    """);

    private static final Resize RESIZE =
            new Resize(List.of(OWN), Resize.Mode.VALUE, true, List.of(), 1);

    private static final List<Transform> TRANSFORMS =
            List.of(RESIZE, Configs.of(Normalize.class), Configs.of(Pad.class));

    @TempDir Path folder;
    private Path photo;
    private Path mirrored;

    @BeforeEach
    void writePhotos() throws IOException {
        photo = folder.resolve("photo.png");
        mirrored = folder.resolve("mirrored.png");
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        BufferedImage mirror = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int color = (x / 7 * 0x1A0B05 + y / 5 * 0x091F2C) ^ ((x * y) >> 3);
                image.setRGB(x, y, color);
                mirror.setRGB(WIDTH - 1 - x, y, color);
            }
        }
        ImageIO.write(image, "png", photo.toFile());
        ImageIO.write(mirror, "png", mirrored.toFile());
    }

    private static ModelConfig model(String head, String scoreThr) {
        String yaml = MODEL + String.format(Locale.ROOT, HEADS.get(head), scoreThr);
        return Configs.bind(ConfigFile.parse(yaml, "test"), ModelConfig.class);
    }

    private Detector load(String head, String scoreThr, List<Transform> transforms) {
        ModelSpec spec = new ModelSpec(model(head, scoreThr), transforms, List.of("a", "b"));
        Path file = folder.resolve("detector.safetensors");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            DetectionModel detector = new DetectionModel(spec.model(), spec.classes());
            detector.initialize(manager, 3);
            Map<String, String> metadata = new HashMap<>(spec.toMetadata());
            metadata.putAll(ScoreThresholds.of(0).toMetadata());
            Checkpoints.save(file, Checkpoint.of(detector, metadata));
        }
        return Detector.load(file);
    }

    private Detector load(String head) {
        return load(head, "0.008", TRANSFORMS);
    }

    private static void assertSame(List<DetectedObject> expected, List<DetectedObject> found) {
        assertTrue(expected.size() > 1);
        assertEquals(expected, found);
    }

    private static DetectedObject mirrored(DetectedObject object) {
        Box box = object.box();
        return new DetectedObject(
                object.label(),
                object.classIndex(),
                object.score(),
                new Box(WIDTH - box.x2(), box.y1(), WIDTH - box.x1(), box.y2()),
                object.mask().map(mask -> mask.flipHorizontal()));
    }

    private static void assertClose(DetectedObject expected, DetectedObject found) {
        assertEquals(expected.label(), found.label());
        assertEquals(expected.score(), found.score(), 1e-3);
        assertEquals(expected.box().x1(), found.box().x1(), 1e-3);
        assertEquals(expected.box().y1(), found.box().y1(), 1e-3);
        assertEquals(expected.box().x2(), found.box().x2(), 1e-3);
        assertEquals(expected.box().y2(), found.box().y2(), 1e-3);
        assertEquals(expected.mask(), found.mask());
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void mergesTestTimeAugmentations(String head) {
        try (Detector detector = load(head);
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            DetectionModel bare = new DetectionModel(detector.spec().model(), detector.classes());
            bare.initialize(manager, 3);
            bare.train(false);
            bare.fuse();
            List<ImageBatch> batches = new ArrayList<>();
            for (List<Integer> scale : List.of(OWN, LARGER)) {
                Resize resize = new Resize(List.of(scale), Resize.Mode.VALUE, true, List.of(), 1);
                List<Transform> transforms = List.of(resize, Configs.of(Normalize.class));
                try (InferenceInput view =
                        new InferenceReader(List.of(transforms))
                                .read(List.of(ImageSource.of(photo)))) {
                    ImageBatch upright = view.to(manager).get(0);
                    ImageInfo info = upright.images().get(0);
                    batches.add(new ImageBatch(upright.pixels().duplicate(), List.of(info)));
                    batches.add(
                            new ImageBatch(
                                    upright.pixels().flip(3), List.of(info.flipHorizontal())));
                }
            }
            List<DetectedObject> expected =
                    DetectedObject.of(bare.predictAugmented(batches), detector.classes());
            Detector viewing =
                    detector.withTta(
                            new TestTimeAugmentation(List.of(OWN, LARGER), /* flip= */ true));
            assertSame(expected, viewing.detect(photo));
            List<ImageSource> both = List.of(ImageSource.of(mirrored), ImageSource.of(photo));
            assertSame(expected, viewing.detect(both).get(1));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void predictsEachTileLikeAnImage(String head) {
        Size size = new Size(HEIGHT, WIDTH);
        Tiles tiles = Tiles.of(48, 40).overlap(0.25).whole(true);
        try (Detector detector = load(head)) {
            TiledObjects expected = new TiledObjects(size);
            expected.add(Tile.all(size), detector.predict(ImageSource.of(photo)));
            Mat pixels = ImageSource.of(photo).read();
            for (Tile tile : tiles.of(size)) {
                Rect part = new Rect(tile.left(), tile.top(), 48, 40);
                Mat alone = pixels.submat(part).clone();
                expected.add(tile, detector.predict(ImageSource.of(alone)));
                alone.release();
            }
            pixels.release();
            List<DetectedObject> found = detector.withTiles(tiles).detect(photo);
            assertSame(DetectedObject.of(expected.merged(), detector.classes()), found);
            assertEquals(detector.detect(photo), detector.withTiles(Tiles.of(WIDTH)).detect(photo));
            assertTrue(
                    found.stream()
                            .flatMap(object -> object.mask().stream())
                            .allMatch(mask -> mask.size().equals(size)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void oneAugmentationEqualsPlainPrediction(String head) {
        try (Detector detector = load(head)) {
            List<DetectedObject> plain = detector.detect(photo);
            assertSame(
                    plain, detector.withTta(Configs.of(TestTimeAugmentation.class)).detect(photo));
            assertSame(
                    plain,
                    detector.withTta(new TestTimeAugmentation(List.of(OWN), false)).detect(photo));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void flippedImageHasFlippedObjects(String head) {
        try (Detector detector = load(head)) {
            Detector viewing = detector.withTta(new TestTimeAugmentation(List.of(OWN), true));
            List<DetectedObject> found = viewing.detect(photo);
            List<DetectedObject> other = viewing.detect(mirrored);
            assertTrue(found.size() > 1);
            assertEquals(found.size(), other.size());
            for (int i = 0; i < found.size(); i++) {
                assertClose(found.get(i), mirrored(other.get(i)));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void allImageSourcesGiveTheSameObjects(String head) throws IOException {
        try (Detector detector = load(head)) {
            List<DetectedObject> expected = detector.detect(photo);
            assertSame(expected, detector.detect(Files.readAllBytes(photo)));
            assertSame(expected, detector.detect(ImageIO.read(photo.toFile())));
            Mat image = Imgcodecs.imread(photo.toString());
            assertSame(expected, detector.detect(image));
            assertEquals(HEIGHT, image.rows(), "the caller's image is left alone");
            image.release();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void manyImagesKeepTheirOrder(String head) {
        try (Detector detector = load(head)) {
            List<ImageSource> photos = new ArrayList<>();
            for (int i = 0; i < 11; i++) {
                photos.add(ImageSource.of(i % 3 == 0 ? mirrored : photo));
            }
            List<List<DetectedObject>> found = detector.detect(photos);
            assertEquals(11, found.size());
            assertEquals(List.of(), detector.detect(List.of()));
            for (int i = 0; i < 11; i++) {
                assertSame(detector.detect(photos.get(i)), found.get(i));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void listEqualsSingleImages(String head) throws IOException {
        List<ImageSource> photos = new ArrayList<>(List.of(ImageSource.of(photo)));
        BufferedImage whole = ImageIO.read(photo.toFile());
        for (int i = 0; i < 9; i++) {
            photos.add(ImageSource.of(whole.getSubimage(0, 0, WIDTH - 9 * i, HEIGHT - i % 3 * 20)));
        }
        try (Detector detector = load(head)) {
            List<List<DetectedObject>> found = detector.detect(photos);
            for (int i = 0; i < photos.size(); i++) {
                assertSame(detector.detect(photos.get(i)), found.get(i));
            }
        }
    }

    @Test
    void usesTheRequestedDevice() {
        Path file = folder.resolve("detector.safetensors");
        List<DetectedObject> expected;
        try (Detector detector = load("retinanet")) {
            expected = detector.detect(photo);
        }
        try (Detector detector = Detector.load(file, Device.cpu())) {
            assertFalse(expected.isEmpty());
            assertEquals(expected.size(), detector.detect(photo).size());
        }
        SaccadeException refused =
                assertThrows(SaccadeException.class, () -> Detector.load(file, Device.gpu(999)));
        assertEquals(SaccadeException.Kind.USER, refused.kind());
        assertTrue(refused.getMessage().startsWith("cuda:999: "), refused.getMessage());
    }

    @Test
    void threadsShareADetectorUntilItIsClosed() throws Exception {
        Detector detector = load("mask_rcnn");
        List<DetectedObject> expected = detector.detect(photo);
        assertTrue(expected.size() > 1);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<List<DetectedObject>>> found = new ArrayList<>();
            for (int i = 0; i < 24; i++) {
                found.add(threads.submit(() -> detector.detect(photo)));
            }
            found.get(0).get();
            detector.close();
            for (Future<List<DetectedObject>> one : found) {
                try {
                    assertEquals(expected, one.get());
                } catch (ExecutionException e) {
                    assertEquals("the Detector is closed", e.getCause().getMessage());
                }
            }
        } finally {
            threads.shutdownNow();
        }
        assertThrows(IllegalStateException.class, () -> detector.detect(photo));
        detector.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void emptyImageHasNoObjects(String head) {
        try (Detector detector = load(head, "0.99", TRANSFORMS)) {
            assertEquals(
                    List.of(),
                    detector.withTta(new TestTimeAugmentation(List.of(), true)).detect(photo));
        }
    }

    @Test
    void rejectsTtaThatDoesNotFitTheTransforms() {
        try (Detector detector = load("retinanet", "0.5", List.of(Configs.of(Normalize.class)))) {
            SaccadeException thrown =
                    assertThrows(
                            SaccadeException.class,
                            () ->
                                    detector.withTta(
                                            new TestTimeAugmentation(List.of(LARGER), false)));
            assertEquals(SaccadeException.Kind.USER, thrown.kind());
            assertTrue(thrown.getMessage().contains("[normalize]"), thrown.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "stacked_convs: 2000000000, stacked_convs: got 2000000000",
        "feat_channels: 60000, feat_channels: got 60000",
        "'stacked_convs: 100, feat_channels: 8192', got 119"
    })
    void namesTheFileOfAnInvalidModelDescription(String head, String refusal) {
        Path file = folder.resolve("hostile.safetensors");
        String description =
                """
                model:
                  backbone: {type: resnet, depth: 18}
                  neck: {type: fpn}
                  head: {type: retinanet, %s}
                transforms: [{type: normalize}]
                classes: [a, b]
                """;
        Checkpoints.save(
                file,
                new Checkpoint(
                        Map.of(),
                        Map.of("saccade.model", String.format(Locale.ROOT, description, head))));
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> Detector.load(file));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains("hostile.safetensors"), thrown.getMessage());
        assertTrue(thrown.getMessage().contains(refusal), thrown.getMessage());
    }

    @Test
    void checkpointStoresOptionalTta() {
        ModelConfig model = model("retinanet", "0.05");
        NamedAugmentations views =
                new NamedAugmentations(
                        Map.of(
                                "larger", new TestTimeAugmentation(List.of(LARGER), true),
                                "twice", new TestTimeAugmentation(List.of(), List.of(2.0), false)),
                        Optional.of("twice"));
        ModelSpec spec =
                new ModelSpec(model, TRANSFORMS, views, List.of("a", "b"), Precision.FLOAT32);
        assertEquals(spec, ModelSpec.fromMetadata(spec.toMetadata(), "file"));

        String older =
                String.format(
                        Locale.ROOT,
                        """
                        model: {%s}
                        transforms:
                          - {type: resize, scales: [[96, 64]], mode: value, keep_ratio: true}
                          - {type: normalize}
                        views: null
                        classes: [a, b]
                        """,
                        "backbone: {type: resnet}, neck: {type: fpn}, head: {type:"
                                + " retinanet, nms: {type: nms, iou_thr: 0.4}, bbox_coder: {type:"
                                + " delta_xywh, stds: [0.5, 0.5, 0.5, 0.5]}}");
        ModelSpec read = ModelSpec.fromMetadata(Map.of("saccade.model", older), "file");
        assertEquals(NamedAugmentations.NONE, read.tta());
        String renamed = read.toMetadata().get("saccade.model");
        assertTrue(renamed.contains("iou_threshold: 0.4"), renamed);
        assertTrue(renamed.contains("target_stds: [0.5, 0.5, 0.5, 0.5]"), renamed);
        String withTta =
                older.replace("views: null", "views: {scales: [[96, 64], [144, 96]], flip: true}");
        assertEquals(
                new TestTimeAugmentation(List.of(List.of(96, 64), List.of(144, 96)), true),
                ModelSpec.fromMetadata(Map.of("saccade.model", withTta), "file")
                        .tta()
                        .named("multi_scale")
                        .orElseThrow());
        assertEquals(List.of(RESIZE, Configs.of(Normalize.class)), read.transforms());

        Map<String, String> unknown =
                Map.of("saccade.model", older.replace("retinanet", "RetinaHead"));
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> ModelSpec.fromMetadata(unknown, "best.safetensors"))
                        .getMessage();
        assertTrue(
                message.contains(
                        "best.safetensors, model description:1: model.head.type: unknown"
                                + " type RetinaHead; did you mean retinanet?"),
                message);
    }

    @Test
    void outOfMemoryIsAUserError() {
        try (Detector detector = load("retinanet", "0", TRANSFORMS)) {
            Shape petabyte = new Shape(1L << 48);
            List<Executable> doors =
                    List.of(
                            () ->
                                    detector.compute(
                                            (model, scratch) -> scratch.zeros(petabyte), () -> ""),
                            () ->
                                    detector.compute(
                                            (model, scratch) -> new long[Integer.MAX_VALUE],
                                            () -> ""));
            for (Executable door : doors) {
                SaccadeException e = assertThrows(SaccadeException.class, door);
                assertEquals(SaccadeException.Kind.USER, e.kind());
                assertTrue(
                        e.getMessage().startsWith("out of memory: use smaller images"),
                        e.getMessage());
            }
            String held = assertThrows(SaccadeException.class, doors.get(0)).getMessage();
            assertTrue(held.contains("; tensors used ") && held.contains("; cpu has "), held);
            assertEquals(100, detector.detect(photo).size(), "and it goes on");
        }
    }
}
