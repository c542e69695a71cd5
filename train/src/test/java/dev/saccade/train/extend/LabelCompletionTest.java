package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.models.ScoreThresholds;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Set;

class LabelCompletionTest {

    private static final List<String> OLD = List.of("cup", "fork");
    private static final LabelCompletion COMPLETION =
            new LabelCompletion(
                    List.of("cup", "fork", "spoon"),
                    Set.of("cup", "fork"),
                    new ScoreThresholds(0.5, Map.of("fork", 0.8)));

    /** A labeled spoon at (0, 0) to (10, 10). */
    private static final List<Annotation> SPOON = List.of(Annotation.of(7, 2, 0, 0, 10, 10));

    private static Instances detection(int label, double score, float... corners) {
        return Instances.predicted(
                Boxes.of(corners), new int[] {label}, new float[] {(float) score});
    }

    private static LabelCompletion.Completed complete(Instances detections) {
        return COMPLETION.complete(SPOON, detections, OLD);
    }

    @Test
    void addsObjectsAndIgnoredRegionsByTheScoreOfTheirClass() {
        LabelCompletion.Completed cup = complete(detection(0, 0.6, 20, 20, 30, 40));
        assertEquals(List.of(SPOON.get(0), Annotation.of(0, 0, 20, 20, 10, 20)), cup.annotations());
        assertEquals(1, cup.objects());

        LabelCompletion.Completed fork = complete(detection(1, 0.6, 20, 20, 30, 40));
        assertEquals(0, fork.objects());
        assertEquals(1, fork.ignored());
        assertTrue(fork.annotations().get(1).crowd());
        assertEquals(1, fork.annotations().get(1).label());

        assertEquals(SPOON, complete(detection(1, 0.39, 20, 20, 30, 40)).annotations());
    }

    @Test
    void keepsLabeledObjects() {
        // IoU 0.5 and 1/3 with the spoon.
        assertEquals(SPOON, complete(detection(0, 0.9, 0, 0, 10, 5)).annotations());
        assertEquals(1, complete(detection(0, 0.9, 0, 5, 10, 15)).objects());
    }

    @Test
    void addsAnObjectOnce() {
        Instances twice =
                Instances.predicted(
                        Boxes.of(20, 20, 30, 40, 20, 21, 30, 40, 20, 30, 30, 50),
                        new int[] {0, 1, 1},
                        new float[] {0.95f, 0.9f, 0.85f});
        assertEquals(
                List.of(0, 1),
                complete(twice).annotations().stream().skip(1).map(Annotation::label).toList());
    }

    @Test
    void ignoredRegionsDoNotCoverObjects() {
        assertEquals(0, complete(detection(0, 0.3, 4, 0, 40, 40)).ignored());
        assertEquals(1, complete(detection(0, 0.3, 6, 0, 40, 40)).ignored());
    }

    @Test
    void addsOnlyTheRequestedClasses() {
        LabelCompletion cups =
                new LabelCompletion(COMPLETION.classes(), Set.of("cup"), COMPLETION.thresholds());
        assertEquals(
                SPOON, cups.complete(SPOON, detection(1, 0.9, 20, 20, 30, 40), OLD).annotations());
    }

    @Test
    void keepsMasks() {
        Size size = new Size(40, 40);
        Rle mask = Rle.fromBox(size, 20, 20, 10, 5);
        Instances detection = detection(0, 0.9, 19, 19, 31, 26).withMasks(List.of(mask));
        Annotation added = complete(detection).annotations().get(1);
        assertEquals(mask, added.segmentation().mask(size));
        assertEquals(new Annotation.Bbox(20, 20, 10, 5), added.box());

        Instances empty = detection(0, 0.9, 20, 20, 30, 25).withMasks(List.of(Rle.empty(size)));
        assertEquals(0, complete(empty).objects());
    }

    @Test
    void imagesWithIgnoredRegionsOnlyHaveNoObjects() {
        assertFalse(
                COMPLETION.complete(List.of(), detection(0, 0.3, 4, 0, 40, 40), OLD).hasObjects());
        assertTrue(complete(Instances.empty()).hasObjects());
    }
}
