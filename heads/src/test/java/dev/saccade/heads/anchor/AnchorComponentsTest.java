package dev.saccade.heads.anchor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.Priors;
import dev.saccade.heads.box.Rows;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;

/** Expected values are computed by hand. */
class AnchorComponentsTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private Boxes anchors(AnchorGenerator generator, int level, Size grid) {
        NDArray base = generator.baseAnchors(manager).get(level);
        return Rows.boxes(generator.anchors(base, level, Collections.nCopies(level + 1, grid)));
    }

    @Test
    void anchorsOfRpn() {
        AnchorGenerator rpn =
                new AnchorGenerator(List.of(8.0), List.of(0.5, 1.0, 2.0), true, 0, List.of(4, 8));
        Boxes anchors = anchors(rpn, 0, new Size(2, 3));
        assertEquals(18, anchors.size());
        assertBox(new float[] {-22.6274f, -11.3137f, 22.6274f, 11.3137f}, anchors, 0);
        int lastCell = 15;
        assertBox(new float[] {-14.6274f, -7.3137f, 30.6274f, 15.3137f}, anchors, lastCell);
    }

    /** Recorded from torchvision 0.22.1 on an image padded to 96x160. */
    @Test
    void anchorsOfTorchvision() {
        AnchorGenerator torchvision =
                AnchorGenerator.ofSizes(
                        List.of(List.of(32, 40, 50), List.of(64, 80, 101), List.of(128, 161, 203)),
                        List.of(0.5, 1.0, 2.0),
                        true,
                        List.of(8, 16, 64));
        assertBox(new float[] {-23, -11, 23, 11}, torchvision.baseAnchors(0), 0);
        assertBox(new float[] {-18, -35, 18, 35}, torchvision.baseAnchors(0), 8);
        assertBox(new float[] {-50, -50, 50, 50}, torchvision.baseAnchors(1), 5);
        List<Size> grids = List.of(new Size(12, 20), new Size(6, 10), new Size(2, 3));
        NDArray base = torchvision.baseAnchors(manager).get(2);
        Boxes coarsest = Rows.boxes(torchvision.anchors(base, 2, grids));
        int lastCell = 5 * 9;
        assertBox(new float[] {15, 3, 197, 93}, coarsest, lastCell);
        assertEquals(grids.get(1), torchvision.validGrid(1, grids.get(1), new Size(64, 64)));
        assertFalse(torchvision.hasFeatureStrides(grids));
    }

    @Test
    void centersAnchorsInTheirCells() {
        AnchorGenerator middle =
                new AnchorGenerator(List.of(8.0), List.of(1.0), true, 0.5, List.of(4, 8));
        assertBox(new float[] {-14, -14, 18, 18}, middle.baseAnchors(0), 0);
        assertBox(new float[] {-20, -28, 44, 36}, anchors(middle, 1, new Size(1, 2)), 1);
    }

    @Test
    void octaveScalesOfRetinaNet() {
        AnchorGenerator retina =
                new AnchorGenerator(
                        AnchorGenerator.octaveScales(4, 3),
                        List.of(0.5, 1.0, 2.0),
                        true,
                        0,
                        List.of(8));
        assertBox(new float[] {-28.5088f, -14.2544f, 28.5088f, 14.2544f}, retina.baseAnchors(0), 1);
        assertBox(new float[] {-16, -16, 16, 16}, retina.baseAnchors(0), 3);
    }

    /** Recorded from mmdetection 3.3.0, {@code scale_major=False}. */
    @Test
    void ordersAnchorsByScaleThenRatio() {
        AnchorGenerator generator =
                new AnchorGenerator(
                        List.of(8.0, 10.0), List.of(0.5, 1.0, 2.0), false, 0, List.of(4));
        float[][] sizes = {
            {22.627417f, 11.313708f},
            {16, 16},
            {11.313708f, 22.627417f},
            {28.284271f, 14.142136f},
            {20, 20},
            {14.142136f, 28.284271f}
        };
        for (int i = 0; i < sizes.length; i++) {
            float x = sizes[i][0];
            float y = sizes[i][1];
            assertBox(new float[] {-x, -y, x, y}, generator.baseAnchors(0), i);
        }
    }

    @Test
    void validGridEndsAtThePaddedImage() {
        AnchorGenerator generator =
                new AnchorGenerator(List.of(8.0), List.of(1.0), true, 0, List.of(32));
        assertEquals(new Size(2, 3), generator.validGrid(0, new Size(4, 4), new Size(64, 90)));
    }

    private static void assertBox(float[] expected, Boxes boxes, int i) {
        assertArrayEquals(expected, boxes.select(i).toArray(), 1e-4f);
    }

    @Test
    void anchorsOutsideTheImageAreNotTrained() {
        AnchorGenerator generator =
                new AnchorGenerator(List.of(1.0), List.of(1.0), true, 0, List.of(8));
        AnchorGrid grid = new AnchorGrid(manager, generator, List.of(new Size(4, 4)));
        ImageInfo image = ImageInfo.of(new Size(20, 32)).padded(new Size(24, 32));
        // Centers at 0, 8, 16 and 24; four pixels to each side must fit, the last not touching.
        assertArrayEquals(new long[] {5, 6, 7}, positions(grid, image, 0));
        assertArrayEquals(LongStream.range(0, 12).toArray(), positions(grid, image, -1));
        assertTrue(grid.inside(image.padded(new Size(32, 32)), -1).isEmpty());
        long[] narrow = {0, 1, 4, 5};
        assertArrayEquals(narrow, positions(grid, ImageInfo.of(new Size(16, 16)), -1));
    }

    private static long[] positions(AnchorGrid grid, ImageInfo image, double border) {
        return grid.inside(image, border).orElseThrow().positions().toLongArray();
    }

    @Test
    void anchorsKnowTheirLevels() {
        AnchorGenerator generator =
                new AnchorGenerator(List.of(1.0), List.of(1.0), true, 0, List.of(8, 16));
        AnchorGrid grid =
                new AnchorGrid(manager, generator, List.of(new Size(2, 2), new Size(1, 1)));
        assertArrayEquals(new int[] {4, 1}, grid.priors().perLevel());
        Priors some = grid.inside(ImageInfo.of(new Size(16, 8)), -1).orElseThrow().priors();
        assertArrayEquals(new int[] {2, 1}, some.perLevel());
        assertEquals(Rows.boxes(grid.anchors()).select(0, 2, 4), Rows.boxes(some.boxes()));
    }

    @Test
    void proposalsOfOneLevelSuppressEachOther() {
        Boxes boxes = Boxes.of(0, 0, 10, 10, 0, 0, 10, 9, 0, 0, 10, 9, 0, 0, 1, 10);
        float[] scores = {0.5f, 0.9f, 0.7f, 0.6f};
        Candidates levels = new Candidates(Rows.scored(manager, boxes, 1, scores), List.of(2L, 2L));
        Detections all = new ProposalConfig(10, 10, 0.7, 0).select(levels);
        assertEquals(boxes.select(1, 2, 3), all.toInstances().get(0).boxes());
        Detections large = new ProposalConfig(10, 1, 0.7, 2).select(levels);
        assertEquals(boxes.select(1), large.toInstances().get(0).boxes());
    }

    @Test
    void dropsZeroAreaProposalsUnlessMinSizeIsNegative() {
        Boxes boxes = Boxes.of(0, 0, 10, 10, 3, 4, 3, 9, 3, 4, 9, 4, 20, 0, 20.5f, 0.5f);
        float[] scores = {0.5f, 0.9f, 0.8f, 0.4f};
        Candidates level = new Candidates(Rows.scored(manager, boxes, 1, scores), List.of(4L));
        ProposalConfig byDefault = Configs.of(ProposalConfig.class);
        assertEquals(boxes.select(0, 3), byDefault.select(level).toInstances().get(0).boxes());
        assertEquals(4, byDefault.withoutMinSize().select(level).toInstances().get(0).size());
        assertEquals(
                boxes.select(0),
                new ProposalConfig(10, 10, 0.7, 0.5).select(level).toInstances().get(0).boxes());
    }
}
