package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.structures.Boxes;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

class SoftNmsTest {

    /**
     * The first two boxes have an IoU of 0.9, or 10 / 11 with an offset; the others do not overlap.
     */
    private static final Boxes BOXES =
            Boxes.of(0, 0, 10, 10, 0, 0, 10, 9, 50, 50, 60, 60, 80, 80, 90, 90);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private static SoftNms nms(String... settings) {
        return Configs.with(Configs.of(SoftNms.class), settings);
    }

    private MulticlassNms.Kept kept(SoftNms nms, int numClasses, float... scores) {
        return nms.apply(Rows.scored(manager, BOXES, numClasses, scores));
    }

    @ParameterizedTest
    @CsvSource({
        "linear, 0.5, 0, 0.08",
        "linear, 0.5, 1, 0.0727273",
        "linear, 0.95, 0, 0.8",
        "gaussian, 0.95, 0, 0.1583189",
        "naive, 0.95, 0, 0.8"
    })
    void decaysTheScoresOfOverlappingBoxes(
            String method, double iouThreshold, int offset, float lowered) {
        SoftNms nms = nms("method=" + method, "iou_threshold=" + iouThreshold, "offset=" + offset);
        MulticlassNms.Kept kept = kept(nms, 1, 0.9f, 0.8f, 0.7f, 0.04f);
        boolean stays = lowered > 0.7f;
        int[] order = stays ? new int[] {0, 1, 2} : new int[] {0, 2, 1};
        assertArrayEquals(order, Rows.ints(kept.keep()));
        float[] scores = {0.9f, Math.max(lowered, 0.7f), Math.min(lowered, 0.7f)};
        assertArrayEquals(scores, kept.detections().scores().toFloatArray(), 1e-6f);
    }

    @Test
    void naiveDropsBoxesAtTheThreshold() {
        ScoredBoxes halves =
                Rows.scored(manager, Boxes.of(0, 0, 10, 10, 0, 0, 10, 5), 1, 0.9f, 0.8f);
        assertArrayEquals(
                new int[] {0},
                Rows.ints(nms("method=naive", "iou_threshold=0.5").apply(halves).keep()));
    }

    @Test
    void tiesGoToTheFirstInWorkingOrder() {
        // The best box swaps places with the first.
        assertArrayEquals(
                new int[] {3, 2, 0}, Rows.ints(kept(nms(), 1, 0.5f, 0, 0.5f, 0.9f).keep()));
    }

    @Test
    void theLastBoxReplacesADroppedOne() {
        SoftNms naive = nms("method=naive");
        assertArrayEquals(
                new int[] {0, 3, 2}, Rows.ints(kept(naive, 1, 0.9f, 0.8f, 0.5f, 0.5f).keep()));
    }

    @Test
    void theFirstBoxMayScoreLessThanTheMinimum() {
        SoftNms nms = nms("score_thr=0", "min_score=0.3");
        assertArrayEquals(new int[] {2}, Rows.ints(kept(nms, 1, 0.1f, 0.1f, 0.2f, 0.1f).keep()));
    }

    @Test
    void classesDoNotInteractUnlessClassAgnostic() {
        float[] scores = {0.9f, 0, 0, 0.8f, 0, 0, 0, 0};
        assertArrayEquals(
                new float[] {0.9f, 0.8f},
                kept(nms(), 2, scores).detections().scores().toFloatArray());
        MulticlassNms.Kept agnostic = kept(nms("class_agnostic=true"), 2, scores);
        assertArrayEquals(new int[] {0, 3}, Rows.ints(agnostic.keep()));
        assertArrayEquals(new int[] {0, 1}, Rows.ints(agnostic.detections().labels()));
        assertEquals(0.08f, agnostic.detections().scores().toFloatArray()[1], 1e-6f);
    }

    @Test
    void manyBoxesAreSplitByClassAndSorted() {
        float[] scores = {0.5f, 0.6f, 0.2f, 0.5f, 0.5f, 0.6f, 0.7f, 0};
        SoftNms nms = nms("split_thr=7", "max_per_img=5", "class_agnostic=true");
        MulticlassNms.Kept kept = kept(nms, 2, scores);
        assertArrayEquals(new int[] {6, 1, 5, 0, 4}, Rows.ints(kept.keep()));
        assertEquals(
                6, kept(nms("split_thr=8", "max_per_img=6"), 2, scores).detections().maxPerImage());
    }

    @Test
    void zeroAreaBoxesKeepTheirScores() {
        ScoredBoxes points = Rows.scored(manager, Boxes.of(5, 5, 5, 5, 5, 5, 5, 5), 1, 0.9f, 0.8f);
        Detections found = nms("method=gaussian").apply(points).detections();
        assertArrayEquals(new float[] {0.9f, 0.8f}, found.scores().toFloatArray());
    }

    @Test
    void readsAllImagesAtOnceAndFillsUp() {
        float[] corners = BOXES.toArray();
        ScoredBoxes two =
                new ScoredBoxes(
                        Tensors.of(manager, corners, new Shape(2, 2, 4)),
                        Tensors.of(manager, new float[] {0.9f, 0.8f, 0.7f, 0}, new Shape(2, 2, 1)));
        Detections[] found = new Detections[1];
        HostTransfers transfers =
                HostTransfers.count(
                        () ->
                                found[0] =
                                        DynamicShapes.callWithout(
                                                () -> nms().apply(two).detections()));
        assertEquals(List.of(1), List.copyOf(transfers.reads().values()));
        assertArrayEquals(new int[] {2, 1}, Rows.ints(found[0].counts()));
        assertEquals(2, found[0].maxPerImage());
        assertArrayEquals(
                new float[] {0.9f, 0.08f, 0.7f, Float.NEGATIVE_INFINITY},
                found[0].scores().toFloatArray(),
                1e-6f);
        assertEquals(Boxes.of(50, 50, 60, 60), found[0].toInstances().get(1).boxes());
    }

    @Test
    void selectsNothingFromEmptyInput() {
        MulticlassNms.Kept none = nms().apply(Rows.scored(manager, Boxes.empty(), 3));
        assertEquals(0, none.detections().toInstances().get(0).size());
        assertEquals(0, kept(nms(), 1, 0, 0, 0, 0).detections().maxPerImage());
    }

    @Test
    void rejectsInvalidSettings() {
        assertThrows(SaccadeException.class, () -> nms("sigma=0"));
        assertThrows(SaccadeException.class, () -> nms("method=soft"));
    }
}
