package dev.saccade.heads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rois;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** The parts of two-stage heads whose results can be told without a network. */
class TwoStagePartsTest {

    @Test
    void regionsAreLookedUpOnTheLevelOfTheirSize() {
        float[] sides = {56, 111.99f, 112, 224, 447, 448, 2000, 0};
        float[] boxes = new float[4 * sides.length];
        for (int i = 0; i < sides.length; i++) {
            boxes[4 * i + 2] = sides[i];
            boxes[4 * i + 3] = sides[i];
        }
        assertArrayEquals(
                new int[] {0, 0, 1, 2, 2, 3, 3, 0}, new RoiExtractor().levels(Boxes.of(boxes)));
    }

    @Test
    void anExtractorNeedsTheLevelsOfThePyramid() {
        List<FeatureInfo> retina = List.of(new FeatureInfo(8, 8), new FeatureInfo(8, 16));
        IllegalArgumentException refusal =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> new MaskRcnnHead.Config().build(retina, 3));
        assertEquals(
                "featmap_strides: got [4, 8, 16, 32], expected the first of the neck's [8, 16]",
                refusal.getMessage());
    }

    @Test
    void aSamplerTakesAllOfFew() {
        RandomSampler.Drawn drawn = new RandomSampler().draw(3, 4, new SplittableRandom(0));
        assertArrayEquals(new int[] {0, 1, 2}, drawn.positives());
        assertArrayEquals(new int[] {0, 1, 2, 3}, drawn.negatives());
    }

    @Test
    void aSamplerKeepsToItsNumbers() {
        RandomSampler sampler = new RandomSampler(10, 0.25, -1, false);
        RandomSampler.Drawn drawn = sampler.draw(50, 100, new SplittableRandom(0));
        assertEquals(2, drawn.positives().length);
        assertEquals(8, drawn.negatives().length);
        assertArrayEquals(sorted(drawn.negatives()), drawn.negatives());
        RandomSampler bounded = new RandomSampler(10, 0.25, 1.5, false);
        assertEquals(3, bounded.draw(2, 100, new SplittableRandom(0)).negatives().length);
        assertEquals(1, bounded.draw(0, 100, new SplittableRandom(0)).negatives().length);
    }

    @Test
    void aSamplerFavoursNobody() {
        RandomSampler sampler = new RandomSampler(5, 0, -1, false);
        int[] times = new int[20];
        for (int draw = 0; draw < 4000; draw++) {
            for (int i : sampler.draw(0, 20, SeededRandom.of(1, draw)).negatives()) {
                times[i]++;
            }
        }
        for (int count : times) {
            // A standard deviation is 27.
            assertEquals(1000, count, 140);
        }
    }

    private static int[] sorted(int[] values) {
        return Arrays.stream(values).sorted().distinct().toArray();
    }

    @Test
    void theAssignerLooksAtAllPairsThatCount() {
        SplittableRandom random = new SplittableRandom(4);
        AnchorGenerator generator =
                new AnchorGenerator(List.of(8.0), List.of(0.5, 1.0, 2.0), 0, List.of(4, 8, 16));
        Boxes anchors =
                new AnchorGrid(
                                generator,
                                List.of(new Size(25, 30), new Size(13, 15), new Size(7, 8)))
                        .anchors();
        for (int round = 0; round < 20; round++) {
            float[] corners = new float[4 * 12];
            for (int i = 0; i < corners.length; i += 4) {
                // Whole pixels make ties; some objects are small, some lie outside.
                corners[i] = random.nextInt(-40, 130);
                corners[i + 1] = random.nextInt(-40, 110);
                corners[i + 2] = corners[i] + random.nextInt(1, 60);
                corners[i + 3] = corners[i + 1] + random.nextInt(1, 60);
            }
            Boxes objects = Boxes.of(corners);
            for (double minPosIou : new double[] {0, 0.3}) {
                MaxIouAssigner assigner =
                        new MaxIouAssigner(0.7, 0.3, minPosIou, true, true, -1, true);
                assertArrayEquals(
                        byDefinition(assigner, anchors, objects),
                        assigner.assign(anchors, objects, Boxes.empty()).gtIndex());
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
        for (int n = 0; n < boxes.size(); n++) {
            int best = 0;
            for (int k = 1; k < objects.size(); k++) {
                best = iou[k][n] > iou[best][n] ? k : best;
            }
            float most = iou[best][n];
            assigned[n] =
                    most >= (float) assigner.posIouThr()
                            ? best + 1
                            : most < (float) assigner.negIouThr() ? 0 : -1;
        }
        for (int k = 0; k < objects.size(); k++) {
            float most = 0;
            for (float each : iou[k]) {
                most = Math.max(most, each);
            }
            for (int n = 0; n < boxes.size(); n++) {
                if (most >= (float) assigner.minPosIou() && iou[k][n] == most) {
                    assigned[n] = k + 1;
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

    @Test
    void anchorsThatReachOutOfTheImageAreNotTrained() {
        AnchorGenerator generator = new AnchorGenerator(List.of(1.0), List.of(1.0), 0, List.of(8));
        AnchorGrid grid = new AnchorGrid(generator, List.of(new Size(4, 4)));
        MaxIouAssigner assigner = new MaxIouAssigner(0.7, 0.3, 0.3, true, true, -1, true);
        ImageInfo image = ImageInfo.of(new Size(20, 32)).padded(new Size(24, 32));
        // Centres at 0, 8, 16 and 24; four pixels to each side must fit, the last not touching.
        assertArrayEquals(
                new int[] {5, 6, 7}, grid.match(image, 0, assigner, Boxes.empty()).negatives());
        assertEquals(12, grid.match(image, -1, assigner, Boxes.empty()).negatives().length);
    }

    @Test
    void proposalsOfOneLevelSuppressEachOther() {
        Boxes boxes = Boxes.of(0, 0, 10, 10, 0, 0, 10, 9, 0, 0, 10, 9, 0, 0, 1, 10);
        float[] scores = {0.5f, 0.9f, 0.7f, 0.6f};
        int[] levels = {0, 0, 1, 1};
        Instances all = new Proposals(10, 10, 0.7, 0).select(boxes, scores, levels);
        assertEquals(boxes.select(1, 2, 3), all.boxes());
        Instances large = new Proposals(10, 1, 0.7, 2).select(boxes, scores, levels);
        assertEquals(boxes.select(1), large.boxes());
    }

    @Test
    void regionsComeWithWhatTheyShouldFind() {
        Instances objects = Instances.groundTruth(Boxes.of(0, 0, 10, 10, 20, 20, 30, 30), 4, 2);
        Boxes proposals = Boxes.of(21, 20, 30, 30, 50, 50, 60, 60, 0, 0, 3, 3);
        MaxIouAssigner assigner = new MaxIouAssigner(0.5, 0.5, 0.5, true, true, -1, true);
        RoiSamples samples =
                RoiSamples.of(
                        assigner,
                        new RandomSampler(100, 0.5, -1, true),
                        List.of(Boxes.empty(), proposals),
                        List.of(Instances.empty(), objects),
                        0,
                        80);
        assertEquals(Boxes.concat(List.of(objects.boxes(), proposals)), samples.rois().boxes());
        assertArrayEquals(new int[] {1, 1, 1, 1, 1}, samples.rois().images());
        assertArrayEquals(new int[] {4, 2, 2, 80, 80}, samples.labels());
        assertArrayEquals(new int[] {0, 1, 2}, samples.positives());
        assertEquals(objects.boxes().select(0, 1, 1), samples.targets());
        assertArrayEquals(new boolean[] {true, true, false, false, false}, samples.repeated());
    }

    @Test
    void decodingOnTheDeviceIsThatOnTheHost() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            SplittableRandom random = new SplittableRandom(2);
            float[] corners = new float[4 * 30];
            float[] deltas = new float[4 * 30];
            for (int i = 0; i < corners.length; i++) {
                corners[i] = (float) random.nextDouble(i % 4 < 2 ? 0 : 50, i % 4 < 2 ? 50 : 90);
                deltas[i] = (float) random.nextDouble(-30, 30);
            }
            BoxCoder coder = BoxCoder.ofRegions();
            Shape shape = new Shape(30, 4);
            NDArray decoded =
                    coder.decode(manager.create(corners, shape), manager.create(deltas, shape));
            assertArrayEquals(
                    coder.decode(Boxes.of(corners), deltas).toArray(),
                    decoded.toFloatArray(),
                    1e-2f);
        }
    }

    @Test
    void everyBoxLossIsZeroForPerfectBoxesAndForNone() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray boxes = manager.create(new float[] {1, 2, 30, 40, 5, 5, 9, 8}, new Shape(2, 4));
            NDArray none = manager.zeros(new Shape(0, 4));
            NDArray moved = boxes.add(manager.create(new float[] {1, 0, 1, 0}));
            for (BoxLoss.Type type : BoxLoss.Type.values()) {
                BoxLoss loss = new BoxLoss(type, 1, 2);
                assertEquals(0, loss.sum(boxes, boxes).getFloat(), 1e-5f, type.name());
                assertEquals(0, loss.sum(none, none).getFloat(), type.name());
                float once = new BoxLoss(type, 1, 1).sum(moved, boxes).getFloat();
                assertEquals(2 * once, loss.sum(moved, boxes).getFloat(), 1e-5f, type.name());
            }
            assertEquals(8, new BoxLoss(BoxLoss.Type.L1, 1, 2).sum(moved, boxes).getFloat(), 1e-5f);
        }
    }

    @Test
    void keepsTheOrderOfImagesInABatch() {
        Boxes[] boxes =
                IntStream.range(0, 3)
                        .mapToObj(n -> Boxes.of(n, n, n + 5, n + 5))
                        .toArray(Boxes[]::new);
        Rois rois = Rois.of(List.of(boxes[0], Boxes.empty(), boxes[2]));
        assertEquals(List.of(boxes[0], Boxes.empty(), boxes[2]), rois.byImage(3));
    }
}
