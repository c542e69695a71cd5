package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.datasets.Transform;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Collections;
import java.util.List;

class TestTimeAugmentationTest {

    private static final Normalize NORMALIZE = Configs.of(Normalize.class);
    private static final Pad PAD = Configs.of(Pad.class);
    private static final RandomFlip MIRROR = new RandomFlip(1, RandomFlip.Direction.HORIZONTAL);

    private static Resize resize(int edge, int otherEdge, boolean keepRatio) {
        return new Resize(
                List.of(List.of(edge, otherEdge)), Resize.Mode.VALUE, keepRatio, List.of(), 1);
    }

    @Test
    void goScaleByScaleEachUprightAndThenMirrored() {
        TestTimeAugmentation tta =
                new TestTimeAugmentation(List.of(List.of(1333, 480), List.of(1333, 960)), true);
        Resize first = resize(1333, 480, false);
        Resize second = resize(1333, 960, false);
        assertEquals(
                List.of(
                        List.of(first, NORMALIZE, PAD),
                        List.of(first, MIRROR, NORMALIZE, PAD),
                        List.of(second, NORMALIZE, PAD),
                        List.of(second, MIRROR, NORMALIZE, PAD)),
                tta.pipelines(List.of(resize(1333, 800, false), NORMALIZE, PAD)));
    }

    @Test
    void areOfTheScaleOfTheTransformsIfNoneIsGiven() {
        List<Transform> transforms = List.of(NORMALIZE, resize(1333, 800, true));
        assertEquals(
                List.of(transforms), Configs.of(TestTimeAugmentation.class).pipelines(transforms));
        assertEquals(
                List.of(transforms, List.of(NORMALIZE, resize(1333, 800, true), MIRROR)),
                new TestTimeAugmentation(List.of(), true).pipelines(transforms));
    }

    @Test
    void multipliesScalesByRatios() {
        TestTimeAugmentation ratios =
                new TestTimeAugmentation(List.of(), List.of(0.5, 1.0, 1.75), false);
        assertEquals(
                List.of(
                        List.of(resize(1024, 256, true), NORMALIZE),
                        List.of(resize(2048, 512, true), NORMALIZE),
                        List.of(resize(3584, 896, true), NORMALIZE)),
                ratios.pipelines(List.of(resize(2048, 512, true), NORMALIZE)));
        assertEquals(
                List.of(List.of(resize(50, 30, true)), List.of(resize(101, 61, true))),
                new TestTimeAugmentation(List.of(List.of(101, 61)), List.of(0.5, 1.0), false)
                        .pipelines(List.of(resize(2048, 512, true))));
        assertEquals(
                List.of(List.of(resize(666, 400, true))),
                new TestTimeAugmentation(List.of(), List.of(0.5), false)
                        .pipelines(List.of(Configs.of(Resize.class))));
    }

    @Test
    void refuseMoreThanAHundredScales() {
        List<List<Integer>> scales = Collections.nCopies(11, List.of(1333, 800));
        List<Double> ratios = Collections.nCopies(10, 1.0);
        IllegalArgumentException thrown =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> new TestTimeAugmentation(scales, ratios, false));
        assertTrue(thrown.getMessage().contains("at most 100"), thrown.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"0", "2"})
    void needOneResizeAmongTheTransforms(int resizes) {
        List<Transform> transforms =
                resizes == 0
                        ? List.of(NORMALIZE, PAD)
                        : List.of(
                                Configs.of(Resize.class), Configs.of(Resize.class), NORMALIZE, PAD);
        IllegalArgumentException thrown =
                assertThrows(
                        IllegalArgumentException.class,
                        () ->
                                new TestTimeAugmentation(List.of(List.of(64, 48)), true)
                                        .pipelines(transforms));
        assertTrue(
                thrown.getMessage().contains("normalize, pad], expected exactly one resize"),
                thrown.getMessage());
    }

    @Test
    void flipsBeforeNormalizationWithoutResize() {
        RandomFlip mirror = new RandomFlip(1, RandomFlip.Direction.HORIZONTAL);
        assertEquals(
                List.of(List.of(NORMALIZE, PAD), List.of(mirror, NORMALIZE, PAD)),
                new TestTimeAugmentation(List.of(), true).pipelines(List.of(NORMALIZE, PAD)));
    }

    @Test
    void refuseScalesThatAreNoPairsOfEdges() {
        List<List<Integer>> scales = List.of(List.of(1333, 800), List.of(800), List.of(1333, 0));
        IllegalArgumentException thrown =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> new TestTimeAugmentation(scales, false));
        assertEquals(
                List.of(
                        "scales[1]: got [800], expected a list of length 2",
                        "scales[2][1]: got 0, expected at least 1"),
                thrown.getMessage().lines().toList());
    }
}
