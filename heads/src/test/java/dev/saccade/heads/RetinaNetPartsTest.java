package dev.saccade.heads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;

/** The numbers that can be checked by hand. */
class RetinaNetPartsTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void anchorsOfRpn() {
        AnchorGenerator rpn =
                new AnchorGenerator(List.of(8.0), List.of(0.5, 1.0, 2.0), 0, List.of(4, 8));
        Boxes anchors = rpn.anchors(0, new Size(2, 3));
        assertEquals(18, anchors.size());
        assertBox(new float[] {-22.6274f, -11.3137f, 22.6274f, 11.3137f}, anchors, 0);
        int lastCell = 15;
        assertBox(new float[] {-14.6274f, -7.3137f, 30.6274f, 15.3137f}, anchors, lastCell);
    }

    @Test
    void anchorsInTheMiddleOfTheirCells() {
        AnchorGenerator middle =
                new AnchorGenerator(List.of(8.0), List.of(1.0), 0.5, List.of(4, 8));
        assertBox(new float[] {-14, -14, 18, 18}, middle.baseAnchors(0), 0);
        assertBox(new float[] {-20, -28, 44, 36}, middle.anchors(1, new Size(1, 2)), 1);
    }

    @Test
    void octaveScalesOfRetinaNet() {
        AnchorGenerator retina =
                new AnchorGenerator(
                        AnchorGenerator.octaveScales(4, 3), List.of(0.5, 1.0, 2.0), 0, List.of(8));
        assertBox(new float[] {-28.5088f, -14.2544f, 28.5088f, 14.2544f}, retina.baseAnchors(0), 1);
        assertBox(new float[] {-16, -16, 16, 16}, retina.baseAnchors(0), 3);
    }

    @Test
    void theGridOfAnImageEndsWithItsPadding() {
        AnchorGenerator generator = new AnchorGenerator(List.of(8.0), List.of(1.0), 0, List.of(32));
        assertEquals(new Size(2, 3), generator.validGrid(0, new Size(4, 4), new Size(64, 90)));
    }

    @Test
    void decodesTheBoxOfTheSpecification() {
        BoxCoder coder = new BoxCoder(List.of(0., 0., 0., 0.), List.of(0.1, 0.1, 0.2, 0.2));
        Boxes decoded =
                coder.decode(Boxes.of(10, 10, 50, 30), new float[] {0.1f, -0.2f, 0.3f, -0.4f});
        assertBox(new float[] {9.1633f, 10.3688f, 51.6367f, 28.8312f}, decoded, 0);
    }

    @Test
    void decodingUndoesEncoding() {
        BoxCoder coder = new BoxCoder();
        Boxes from = Boxes.of(3, 4, 20, 40, 0, 0, 8, 8);
        Boxes to = Boxes.of(5, 1, 30, 28, 2, 3, 4, 5);
        assertArrayEquals(
                to.toArray(), coder.decode(from, coder.encode(from, to)).toArray(), 1e-4f);
    }

    @Test
    void codesNothing() {
        BoxCoder coder = new BoxCoder();
        assertEquals(0, coder.encode(Boxes.empty(), Boxes.empty()).length);
        assertEquals(0, coder.decode(Boxes.empty(), new float[0], new Size(5, 5)).size());
    }

    @Test
    void aLowQualityMatchOverridesABetterOneAndTheLaterWins() {
        Boxes anchors = Boxes.of(0, 0, 10, 10, 100, 100, 110, 110);
        Boxes gts = Boxes.of(0, 0, 10, 9, 0, 0, 10, 8);
        int[] gtIndex = new MaxIouAssigner().assign(anchors, gts, Boxes.empty()).gtIndex();
        assertArrayEquals(new int[] {2, 0}, gtIndex);
    }

    @Test
    void anIgnoredRegionCountsByTheShareOfTheBoxOrOfTheRegion() {
        Boxes boxes = Boxes.of(0, 0, 100, 100, 40, 40, 50, 50);
        Boxes object = Boxes.of(200, 200, 220, 220);
        Boxes small = Boxes.of(10, 10, 20, 20);
        Boxes large = Boxes.of(30, 30, 90, 90);
        MaxIouAssigner ofBox = new MaxIouAssigner(0.5, 0.4, 0.1, true, true, 0.5, true);
        MaxIouAssigner ofRegion = new MaxIouAssigner(0.5, 0.4, 0.1, true, true, 0.5, false);
        assertArrayEquals(new int[] {0, 0}, ofBox.assign(boxes, object, small).gtIndex());
        assertArrayEquals(new int[] {-1, 0}, ofRegion.assign(boxes, object, small).gtIndex());
        assertArrayEquals(new int[] {0, -1}, ofBox.assign(boxes, object, large).gtIndex());
        assertArrayEquals(new int[] {-1, 0}, ofRegion.assign(boxes, object, large).gtIndex());
    }

    @Test
    void withoutGroundTruthEverythingIsBackground() {
        Boxes anchors = Boxes.of(0, 0, 10, 10, 5, 5, 9, 9);
        int[] gtIndex =
                new MaxIouAssigner().assign(anchors, Boxes.empty(), Boxes.empty()).gtIndex();
        assertArrayEquals(new int[] {0, 0}, gtIndex);
    }

    @Test
    void focalLossOfAnUndecidedLogit() {
        FocalLoss focal = new FocalLoss(2, 0.25);
        NDArray logits = manager.zeros(new Shape(1, 2));
        NDArray ones = manager.ones(new Shape(1));
        float target = 0.0433217f;
        float other = 0.1299651f;
        assertEquals(
                target + other,
                focal.sum(logits, manager.create(new int[] {1}), ones).getFloat(),
                1e-6f);
        assertEquals(
                2 * other,
                focal.sum(logits, manager.create(new int[] {2}), ones).getFloat(),
                1e-6f);
        NDArray none = manager.zeros(new Shape(0, 2));
        assertEquals(
                0,
                focal.sum(none, manager.create(new int[0]), manager.create(new float[0]))
                        .getFloat());
    }

    @Test
    void giouOfTheSpecification() {
        NDArray a = manager.create(new float[] {0, 0, 10, 10}, new Shape(1, 4));
        NDArray b = manager.create(new float[] {5, 5, 15, 15}, new Shape(1, 4));
        assertEquals(
                1.0793651f, BoxLosses.giou(a, b, manager.ones(new Shape(1))).getFloat(), 1e-6f);
    }

    @Test
    void selectsTheBestOfEveryClass() {
        Boxes boxes = Boxes.of(0, 0, 10, 10, 0, 0, 10, 9, 50, 50, 60, 60);
        float[] scores = {0.9f, 0.3f, 0.8f, 0.6f, 0.01f, 0.04f};
        Instances kept = new MulticlassNms().apply(boxes, scores, 2).instances();
        assertArrayEquals(new int[] {0, 1}, kept.labels());
        assertEquals(0.9f, kept.score(0));
        assertEquals(0.6f, kept.score(1));
    }

    @Test
    void selectsNothingFromNothing() {
        assertEquals(
                0, new MulticlassNms().apply(Boxes.empty(), new float[0], 3).instances().size());
    }

    private static void assertBox(float[] expected, Boxes boxes, int i) {
        assertArrayEquals(expected, boxes.select(i).toArray(), 1e-4f);
    }
}
