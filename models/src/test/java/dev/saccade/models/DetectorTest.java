package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.PhotoViews;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.ViewReader;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.datasets.transforms.Views;
import dev.saccade.models.checkpoint.Checkpoint;
import dev.saccade.models.checkpoint.Checkpoints;
import dev.saccade.models.config.ConfigBinder;
import dev.saccade.models.config.ConfigFile;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import javax.imageio.ImageIO;

/** Detectors from a file that look at photographs in several views. */
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

    private static final List<Transform> TRANSFORMS = List.of(RESIZE, new Normalize(), new Pad());

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
                int colour = (x / 7 * 0x1A0B05 + y / 5 * 0x091F2C) ^ ((x * y) >> 3);
                image.setRGB(x, y, colour);
                mirror.setRGB(WIDTH - 1 - x, y, colour);
            }
        }
        ImageIO.write(image, "png", photo.toFile());
        ImageIO.write(mirror, "png", mirrored.toFile());
    }

    private static ModelConfig model(String head, String scoreThr) {
        String yaml = MODEL + HEADS.get(head).formatted(scoreThr);
        return ConfigBinder.bind(ConfigFile.parse(yaml, "test"), ModelConfig.class);
    }

    private Detector load(String head, String scoreThr, List<Transform> transforms) {
        ModelSpec spec =
                new ModelSpec(
                        model(head, scoreThr), transforms, Optional.empty(), List.of("a", "b"));
        Path file = folder.resolve("detector.safetensors");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            DetectionModel detector = new DetectionModel(spec.model(), spec.classes());
            detector.initialize(manager, 3);
            Checkpoints.save(file, Checkpoint.of(detector, spec.toMetadata()));
        }
        return Detector.load(file);
    }

    private Detector load(String head) {
        return load(head, "0.008", TRANSFORMS);
    }

    private static void assertSame(Instances expected, Instances found, float tolerance) {
        assertTrue(expected.size() > 1);
        assertEquals(expected.size(), found.size());
        assertArrayEquals(expected.labels(), found.labels());
        assertArrayEquals(expected.boxes().toArray(), found.boxes().toArray(), tolerance);
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.score(i), found.score(i), tolerance);
        }
        assertEquals(expected.masks(), found.masks());
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void mergesWhatItFindsInTheViews(String head) {
        try (Detector detector = load(head);
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            DetectionModel bare = new DetectionModel(detector.spec().model(), detector.classes());
            bare.initialize(manager, 3);
            bare.train(false);
            List<ImageBatch> batches = new ArrayList<>();
            for (List<Integer> scale : List.of(OWN, LARGER)) {
                Resize resize = new Resize(List.of(scale), Resize.Mode.VALUE, true, List.of(), 1);
                List<Transform> transforms = List.of(resize, new Normalize());
                try (PhotoViews view = new ViewReader(List.of(transforms)).read(List.of(photo))) {
                    ImageBatch upright = view.on(manager).get(0);
                    ImageInfo info = upright.images().get(0);
                    batches.add(new ImageBatch(upright.pixels().duplicate(), List.of(info)));
                    batches.add(new ImageBatch(upright.pixels().flip(3), List.of(info.mirrored())));
                }
            }
            Instances expected = bare.predictViews(batches);
            Detector viewing =
                    detector.withViews(new Views(List.of(OWN, LARGER), /* flip= */ true));
            assertSame(expected, viewing.detect(photo), 0);
            assertEquals(expected.boxes(), viewing.detect(List.of(mirrored, photo)).get(1).boxes());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void oneViewIsAPlainLook(String head) {
        try (Detector detector = load(head)) {
            Instances plain = detector.detect(photo);
            assertSame(plain, detector.withViews(new Views()).detect(photo), 0);
            assertSame(plain, detector.withViews(new Views(List.of(OWN), false)).detect(photo), 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void aMirroredPhotographHasMirroredObjects(String head) {
        try (Detector detector = load(head)) {
            Detector viewing = detector.withViews(new Views(List.of(OWN), true));
            Instances found = viewing.detect(photo);
            Instances other = viewing.detect(mirrored);
            assertSame(
                    found,
                    other.withBoxes(other.boxes().flipHorizontal(WIDTH))
                            .mapMasks(mask -> mask.flipHorizontal()),
                    1e-3f);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"retinanet", "mask_rcnn"})
    void findsNothingWhereNothingIs(String head) {
        try (Detector detector = load(head, "0.99", TRANSFORMS)) {
            Instances found = detector.withViews(new Views(List.of(), true)).detect(photo);
            assertEquals(0, found.size());
        }
    }

    @Test
    void refusesViewsThatItsTransformsCannotMake() {
        try (Detector detector = load("retinanet", "0.5", List.of(new Normalize()))) {
            SaccadeException thrown =
                    assertThrows(
                            SaccadeException.class,
                            () -> detector.withViews(new Views(List.of(LARGER), false)));
            assertEquals(SaccadeException.Kind.USER, thrown.kind());
            assertTrue(thrown.getMessage().contains("[normalize]"), thrown.getMessage());
        }
    }

    @Test
    void keepsItsViewsInTheCheckpointAndNeedsNone() {
        ModelConfig model = model("retinanet", "0.05");
        Views views = new Views(List.of(LARGER), true);
        ModelSpec spec = new ModelSpec(model, TRANSFORMS, Optional.of(views), List.of("a", "b"));
        assertEquals(spec, ModelSpec.fromMetadata(spec.toMetadata(), "file"));

        String older =
                """
                model: {%s}
                transforms:
                  - {type: resize, scales: [[96, 64]], mode: value, keep_ratio: true}
                  - {type: normalize}
                classes: [a, b]
                """
                        .formatted(
                                "backbone: {type: resnet}, neck: {type: fpn}, head: {type:"
                                        + " retinanet}");
        ModelSpec read = ModelSpec.fromMetadata(Map.of("saccade.model", older), "file");
        assertEquals(Optional.empty(), read.views());
        assertEquals(List.of(List.of(RESIZE, new Normalize())), read.viewTransforms());
    }
}
