package dev.saccade.heads.roi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.Inference;
import dev.saccade.heads.anchor.RetinaNetHead;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Checks the merging of several views of an image. */
class TestTimeAugmentationTest {

    private static final Size ORIGINAL = new Size(24, 32);
    private static final ImageInfo IMAGE = ImageInfo.of(ORIGINAL).resized(new Size(48, 64), 2, 2);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    /** A fixed seed: with some others, scores tie and the order of the views matters. */
    private final Random random = new Random(1);

    @AfterEach
    void free() {
        manager.close();
    }

    private DetectionHead head(String type) {
        DetectionHead.Config config =
                switch (type) {
                    case "retinanet" -> Configs.of(RetinaNetHead.Config.class);
                    case "mask_rcnn" -> SmallHeads.maskRcnn();
                    case "htc" -> SmallHeads.htc("average_masks=true");
                    case "htc_of_the_last_masks" -> SmallHeads.htc();
                    default -> SmallHeads.cascade();
                };
        DetectionHead head = config.build(SmallHeads.FEATURES, 3);
        head.initialize(manager, 5);
        head.train(false);
        return head;
    }

    @ParameterizedTest
    @ValueSource(strings = {"mask_rcnn", "cascade", "htc", "htc_of_the_last_masks"})
    void twoEqualViewsGiveTheSameResult(String type) {
        DetectionHead head = head(type);
        FeaturePyramid view = pyramid();
        Instances one =
                Inference.predict(() -> head.predictAugmented(List.of(view), List.of(IMAGE)));
        Instances two =
                Inference.predict(
                        () -> head.predictAugmented(List.of(view, view), List.of(IMAGE, IMAGE)));
        assertTrue(one.size() > 0);
        assertEquals(one.size(), two.size());
        assertArrayEquals(one.boxes().toArray(), two.boxes().toArray(), 1e-3f);
        assertEquals(ORIGINAL, one.mask(0).size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mask_rcnn", "cascade", "htc", "htc_of_the_last_masks"})
    void theOrderOfViewsDoesNotMatter(String type) {
        DetectionHead head = head(type);
        List<FeaturePyramid> views = List.of(pyramid(), pyramid());
        List<ImageInfo> images = List.of(IMAGE, IMAGE.flipHorizontal());
        Instances found = Inference.predict(() -> head.predictAugmented(views, images));
        Instances other =
                Inference.predict(
                        () ->
                                head.predictAugmented(
                                        List.of(views.get(1), views.get(0)),
                                        List.of(images.get(1), images.get(0))));
        assertEquals(found.size(), other.size());
        assertArrayEquals(found.boxes().toArray(), other.boxes().toArray(), 1e-3f);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mask_rcnn", "cascade", "htc", "htc_of_the_last_masks"})
    void fixedShapesGiveTheSameResultWithTwoHostReads(String type) {
        DetectionHead head = head(type);
        List<FeaturePyramid> views = List.of(pyramid(), pyramid());
        List<ImageInfo> images = List.of(IMAGE, IMAGE.flipHorizontal());
        Instances exact = Inference.predict(() -> head.predictAugmented(views, images));
        Instances[] fixed = new Instances[1];
        HostTransfers transfers =
                HostTransfers.count(
                        () ->
                                fixed[0] =
                                        DynamicShapes.callWithout(
                                                () ->
                                                        Inference.predict(
                                                                () ->
                                                                        head.predictAugmented(
                                                                                views, images))));
        assertEquals(2, transfers.reads().values().stream().mapToInt(Integer::intValue).sum());
        assertTrue(exact.size() > 0);
        assertArrayEquals(exact.labels(), fixed[0].labels());
        assertArrayEquals(exact.boxes().toArray(), fixed[0].boxes().toArray(), 1e-4f);
        assertEquals(exact.masks(), fixed[0].masks());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mask_rcnn", "htc"})
    void flippedViewsAreFlippedBack(String type) {
        TwoStageHead head = (TwoStageHead) head(type);
        FeaturePyramid view = pyramid();
        Instances found = Inference.predict(() -> head.predict(view, List.of(IMAGE))).get(0);
        Instances mirrored =
                Inference.predict(() -> head.predict(view, List.of(IMAGE.flipHorizontal()))).get(0);
        assertTrue(found.size() > 0);
        Boxes flipped = mirrored.boxes().flipHorizontal(ORIGINAL.width());
        assertArrayEquals(found.boxes().toArray(), flipped.toArray(), 1e-3f);
        int different = 0;
        for (int i = 0; i < found.size(); i++) {
            byte[] mask = found.mask(i).decode();
            byte[] back = mirrored.mask(i).flipHorizontal().decode();
            for (int p = 0; p < mask.length; p++) {
                different += mask[p] == back[p] ? 0 : 1;
            }
        }
        assertEquals(0, different, 0.001 * found.size() * ORIGINAL.area());
    }

    @Test
    void retinaNetRunsNmsOverAllViews() {
        DetectionHead head = head("retinanet");
        FeaturePyramid view = pyramid(1e5f);
        Instances one = Inference.predict(() -> head.predict(view, List.of(IMAGE))).get(0);
        assertTrue(one.size() > 0);
        Instances same =
                Inference.predict(
                        () -> head.predictAugmented(List.of(view, view), List.of(IMAGE, IMAGE)));
        assertEquals(one.boxes(), same.boxes());
        FeaturePyramid nothing = pyramid(Float.NaN);
        Instances either =
                Inference.predict(
                        () -> head.predictAugmented(List.of(nothing, view), List.of(IMAGE, IMAGE)));
        assertEquals(one.boxes(), either.boxes());
    }

    private FeaturePyramid pyramid() {
        return pyramid(3);
    }

    private FeaturePyramid pyramid(float scale) {
        int[][] grids = {{12, 16}, {6, 8}, {3, 4}, {2, 2}, {1, 1}};
        List<NDArray> levels = new ArrayList<>();
        for (int[] grid : grids) {
            float[] values = new float[8 * grid[0] * grid[1]];
            for (int i = 0; i < values.length; i++) {
                values[i] = scale * (float) random.nextGaussian();
            }
            levels.add(manager.create(values, new Shape(1, 8, grid[0], grid[1])));
        }
        return new FeaturePyramid(levels);
    }
}
