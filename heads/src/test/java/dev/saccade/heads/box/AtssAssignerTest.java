package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.anchor.AnchorGenerator;
import dev.saccade.heads.anchor.AnchorGrid;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class AtssAssignerTest {

    private static final List<Size> GRIDS =
            List.of(new Size(12, 15), new Size(6, 8), new Size(1, 2));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    private final Priors priors =
            new AnchorGrid(
                            manager,
                            new AnchorGenerator(
                                    List.of(4.0), List.of(1.0), true, 0, List.of(8, 16, 64)),
                            GRIDS)
                    .priors();

    @AfterEach
    void free() {
        manager.close();
    }

    private int[] assigned(AtssAssigner assigner, Instances objects) {
        return Rows.ints(assigner.assign(priors, Rows.objects(manager, objects)).gtInds());
    }

    private static Instances objects(float... corners) {
        return Instances.groundTruth(Boxes.of(corners), new int[corners.length / 4]);
    }

    @Test
    void followsThePaper() {
        SplittableRandom random = new SplittableRandom(3);
        Boxes anchors = Rows.boxes(priors.boxes());
        int positive = 0;
        for (int round = 0; round < 20; round++) {
            float[] corners = new float[4 * 6];
            for (int i = 0; i < corners.length; i += 4) {
                corners[i] = (float) random.nextDouble(-10, 100);
                corners[i + 1] = (float) random.nextDouble(-10, 80);
                corners[i + 2] = corners[i] + (float) random.nextDouble(2, 70);
                corners[i + 3] = corners[i + 1] + (float) random.nextDouble(2, 70);
            }
            for (int topk : new int[] {2, 9}) {
                int[] found = assigned(new AtssAssigner(topk, -1), objects(corners));
                assertArrayEquals(byDefinition(topk, anchors, Boxes.of(corners)), found);
                positive += (int) Arrays.stream(found).filter(i -> i > 0).count();
            }
        }
        assertTrue(positive > 100, positive + " positive ones");
    }

    private int[] byDefinition(int topk, Boxes anchors, Boxes objects) {
        int[] assigned = new int[anchors.size()];
        double[] best = new double[anchors.size()];
        for (int k = 0; k < objects.size(); k++) {
            int object = k;
            List<Integer> candidates = new ArrayList<>();
            int start = 0;
            for (int count : priors.perLevel()) {
                IntStream.range(start, start + count)
                        .boxed()
                        .sorted(Comparator.comparing(i -> distance(anchors, i, objects, object)))
                        .limit(topk)
                        .forEach(candidates::add);
                start += count;
            }
            double[] iou =
                    candidates.stream()
                            .mapToDouble(i -> iou(anchors, i, objects, object))
                            .toArray();
            double mean = Arrays.stream(iou).average().orElseThrow();
            double squares = Arrays.stream(iou).map(x -> (x - mean) * (x - mean)).sum();
            double threshold = mean + Math.sqrt(squares / (iou.length - 1));
            for (int c = 0; c < iou.length; c++) {
                int i = candidates.get(c);
                double x = (anchors.x1(i) + anchors.x2(i)) / 2;
                double y = (anchors.y1(i) + anchors.y2(i)) / 2;
                boolean inside =
                        x - objects.x1(k) > 0.01
                                && objects.x2(k) - x > 0.01
                                && y - objects.y1(k) > 0.01
                                && objects.y2(k) - y > 0.01;
                if (inside && iou[c] >= threshold && (assigned[i] == 0 || iou[c] > best[i])) {
                    assigned[i] = k + 1;
                    best[i] = iou[c];
                }
            }
        }
        return assigned;
    }

    private static double distance(Boxes a, int i, Boxes b, int j) {
        double x = (a.x1(i) + a.x2(i)) / 2.0 - (b.x1(j) + b.x2(j)) / 2.0;
        double y = (a.y1(i) + a.y2(i)) / 2.0 - (b.y1(j) + b.y2(j)) / 2.0;
        return Math.hypot(x, y);
    }

    private static double iou(Boxes a, int i, Boxes b, int j) {
        double width = Math.min(a.x2(i), b.x2(j)) - Math.max(a.x1(i), b.x1(j));
        double height = Math.min(a.y2(i), b.y2(j)) - Math.max(a.y1(i), b.y1(j));
        double shared = Math.max(width, 0) * Math.max(height, 0);
        return shared / (a.area(i) + b.area(j) - shared);
    }

    @Test
    void tiesGoToTheFirstObject() {
        int[] found =
                assigned(
                        Configs.of(AtssAssigner.class),
                        objects(20.5f, 21.25f, 60, 70, 20.5f, 21.25f, 60, 70));
        assertTrue(Arrays.stream(found).anyMatch(i -> i == 1));
        assertTrue(Arrays.stream(found).noneMatch(i -> i == 2));
    }

    @Test
    void withoutGroundTruthEverythingIsBackground() {
        int[] found = assigned(Configs.of(AtssAssigner.class), Instances.empty());
        assertArrayEquals(new int[priors.size()], found);
    }

    @Test
    void anObjectLargerThanTheImageHasAnchorsOfTheCoarsestLevel() {
        int[] found = assigned(Configs.of(AtssAssigner.class), objects(-200, -200, 330, 310));
        int fine = priors.size() - priors.perLevel()[2];
        assertTrue(Arrays.stream(found, fine, found.length).anyMatch(i -> i == 1));
        assertEquals(0, Arrays.stream(found, 0, fine).filter(i -> i > 0).count());
    }

    @Test
    void aSingleCandidateIsNotPositive() {
        Priors one = new Priors(Rows.of(manager, Boxes.of(0, 0, 10, 10)));
        GtInstances object = Rows.objects(manager, objects(0, 0, 10, 10));
        Assignment found = Configs.of(AtssAssigner.class).assign(one, object);
        assertArrayEquals(new int[] {0}, Rows.ints(found.gtInds()));
    }

    @Test
    void anchorsInIgnoredRegionsAreIgnored() {
        Instances object = objects(4, 4, 36, 36);
        Instances beside = object.withIgnored(Boxes.of(60, 40, 120, 96));
        AtssAssigner careful = new AtssAssigner(9, 0.5);
        assertTrue(Arrays.stream(assigned(careful, beside)).anyMatch(i -> i == -1));
        assertTrue(Arrays.stream(assigned(careful, object)).noneMatch(i -> i == -1));
        assertArrayEquals(
                assigned(careful, object), assigned(Configs.of(AtssAssigner.class), beside));
    }

    @Test
    void rejectsInvalidSettings() {
        String message =
                assertThrows(SaccadeException.class, () -> Configs.of(AtssAssigner.class, "topk=0"))
                        .getMessage();
        assertTrue(message.contains("topk: got 0"), message);
    }
}
