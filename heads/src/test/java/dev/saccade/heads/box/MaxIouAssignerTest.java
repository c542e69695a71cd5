package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.anchor.AnchorGenerator;
import dev.saccade.heads.anchor.AnchorGrid;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.SplittableRandom;

class MaxIouAssignerTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private int[] assigned(MaxIouAssigner assigner, Boxes boxes, Boxes objects, Boxes ignored) {
        Instances instances =
                Instances.groundTruth(objects, new int[objects.size()]).withIgnored(ignored);
        Priors priors = new Priors(Rows.of(manager, boxes));
        return Rows.ints(assigner.assign(priors, Rows.objects(manager, instances)).gtInds());
    }

    @Test
    void aLowQualityMatchOverridesABetterOneAndTheLaterWins() {
        Boxes anchors = Boxes.of(0, 0, 10, 10, 100, 100, 110, 110);
        Boxes gts = Boxes.of(0, 0, 10, 9, 0, 0, 10, 8);
        int[] gtIndex = assigned(Configs.of(MaxIouAssigner.class), anchors, gts, Boxes.empty());
        assertArrayEquals(new int[] {2, 0}, gtIndex);
        MaxIouAssigner torchvision = Configs.of(MaxIouAssigner.class, "low_quality_argmax=true");
        assertArrayEquals(new int[] {1, 0}, assigned(torchvision, anchors, gts, Boxes.empty()));
    }

    @Test
    void ignoredRegionsCountRelativeToPriorOrRegion() {
        Boxes boxes = Boxes.of(0, 0, 100, 100, 40, 40, 50, 50);
        Boxes object = Boxes.of(200, 200, 220, 220);
        Boxes small = Boxes.of(10, 10, 20, 20);
        Boxes large = Boxes.of(30, 30, 90, 90);
        MaxIouAssigner ofBox =
                Configs.of(MaxIouAssigner.class, "min_pos_iou=0.1", "ignore_iof_thr=0.5");
        MaxIouAssigner ofRegion =
                Configs.of(
                        MaxIouAssigner.class,
                        "min_pos_iou=0.1",
                        "ignore_iof_thr=0.5",
                        "ignore_wrt_candidates=false");
        assertArrayEquals(new int[] {0, 0}, assigned(ofBox, boxes, object, small));
        assertArrayEquals(new int[] {-1, 0}, assigned(ofRegion, boxes, object, small));
        assertArrayEquals(new int[] {0, -1}, assigned(ofBox, boxes, object, large));
        assertArrayEquals(new int[] {-1, 0}, assigned(ofRegion, boxes, object, large));
    }

    /** Recorded from mmdetection 3.3.0, {@code neg_iou_thr=(0.1, 0.4)} and {@code (0.2, 0.4)}. */
    @Test
    void backgroundCanRequireAMinimumOverlap() {
        float[] heights = {10, 5, 1, 2, 4, 4.5f};
        float[] corners = new float[4 * 7];
        for (int i = 0; i < heights.length; i++) {
            corners[4 * i + 2] = 10;
            corners[4 * i + 3] = heights[i];
        }
        System.arraycopy(new float[] {50, 50, 60, 60}, 0, corners, 24, 4);
        Boxes boxes = Boxes.of(corners);
        Boxes object = Boxes.of(0, 0, 10, 10);
        MaxIouAssigner tenth = Configs.of(MaxIouAssigner.class, "neg_iou_thr=[0.1, 0.4]");
        MaxIouAssigner fifth = Configs.of(MaxIouAssigner.class, "neg_iou_thr=[0.2, 0.4]");

        assertArrayEquals(
                new int[] {1, 1, 0, 0, -1, -1, -1}, assigned(tenth, boxes, object, Boxes.empty()));
        assertArrayEquals(
                new int[] {1, 1, -1, 0, -1, -1, -1}, assigned(fifth, boxes, object, Boxes.empty()));
    }

    @Test
    void withoutGroundTruthEverythingIsBackground() {
        Boxes anchors = Boxes.of(0, 0, 10, 10, 5, 5, 9, 9);
        int[] gtIndex =
                assigned(Configs.of(MaxIouAssigner.class), anchors, Boxes.empty(), Boxes.empty());
        assertArrayEquals(new int[] {0, 0}, gtIndex);
    }

    @Test
    void considersAllRelevantPairs() {
        SplittableRandom random = new SplittableRandom(4);
        AnchorGenerator generator =
                new AnchorGenerator(
                        List.of(8.0), List.of(0.5, 1.0, 2.0), true, 0, List.of(4, 8, 16));
        List<Size> grids = List.of(new Size(25, 30), new Size(13, 15), new Size(7, 8));
        Boxes anchors = Rows.boxes(new AnchorGrid(manager, generator, grids).anchors());
        for (int round = 0; round < 20; round++) {
            float[] corners = new float[4 * 12];
            for (int i = 0; i < corners.length; i += 4) {
                // Integer coordinates produce ties; some objects are small, some lie outside.
                corners[i] = random.nextInt(-40, 130);
                corners[i + 1] = random.nextInt(-40, 110);
                corners[i + 2] = corners[i] + random.nextInt(1, 60);
                corners[i + 3] = corners[i + 1] + random.nextInt(1, 60);
            }
            Boxes objects = Boxes.of(corners);
            for (String rule :
                    List.of("min_pos_iou=0", "min_pos_iou=0.3", "low_quality_argmax=true")) {
                MaxIouAssigner assigner =
                        Configs.of(
                                MaxIouAssigner.class, "pos_iou_thr=0.7", "neg_iou_thr=0.3", rule);
                assertArrayEquals(
                        byDefinition(assigner, anchors, objects),
                        assigned(assigner, anchors, objects, Boxes.empty()));
            }
        }
    }

    private static int[] byDefinition(MaxIouAssigner assigner, Boxes boxes, Boxes objects) {
        float[][] iou = new float[objects.size()][boxes.size()];
        for (int k = 0; k < objects.size(); k++) {
            for (int n = 0; n < boxes.size(); n++) {
                iou[k][n] = iou(objects, k, boxes, n);
            }
        }
        int[] assigned = new int[boxes.size()];
        int[] argmax = new int[boxes.size()];
        for (int n = 0; n < boxes.size(); n++) {
            int best = 0;
            for (int k = 1; k < objects.size(); k++) {
                best = iou[k][n] > iou[best][n] ? k : best;
            }
            argmax[n] = best;
            float most = iou[best][n];
            assigned[n] =
                    most >= (float) assigner.posIouThr()
                            ? best + 1
                            : most < (float) assigner.negIouThr().high() ? 0 : -1;
        }
        for (int k = 0; k < objects.size(); k++) {
            float most = 0;
            for (float each : iou[k]) {
                most = Math.max(most, each);
            }
            for (int n = 0; n < boxes.size(); n++) {
                if (most >= (float) assigner.minPosIou() && iou[k][n] == most) {
                    assigned[n] = (assigner.lowQualityArgmax() ? argmax[n] : k) + 1;
                }
            }
        }
        return assigned;
    }

    private static float iou(Boxes a, int i, Boxes b, int j) {
        float width = Math.min(a.x2(i), b.x2(j)) - Math.max(a.x1(i), b.x1(j));
        float height = Math.min(a.y2(i), b.y2(j)) - Math.max(a.y1(i), b.y1(j));
        float shared = Math.max(width, 0) * Math.max(height, 0);
        return shared / Math.max(a.area(i) + b.area(j) - shared, 1e-6f);
    }
}
