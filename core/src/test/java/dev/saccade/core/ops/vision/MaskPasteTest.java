package dev.saccade.core.ops.vision;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Random;

class MaskPasteTest {

    private static final Size CANVAS = new Size(30, 40);

    private static final Boxes BOXES =
            Boxes.of(
                    3.2f, 4.7f, 20.1f, 25.9f, // inside
                    -8, -5, 60, 50, // around the image
                    30, 20, 55, 29, // over the right border
                    10, 0, 12, 30, // as high as the image
                    50, 50, 60, 60, // outside
                    7, 9, 7, 20); // without width

    @Test
    void runsEqualThresholdedProbabilities() {
        Random random = new Random(1);
        float[] maps = new float[BOXES.size() * 49];
        for (int i = 0; i < maps.length; i++) {
            maps[i] = random.nextFloat();
        }
        for (int i = 0; i < BOXES.size(); i++) {
            MaskPaste paste = new MaskPaste(MaskStyle.MMDETECTION, maps, BOXES, i, 7, CANVAS);
            float[] probabilities = paste.probabilities();
            byte[] bitmap = new byte[probabilities.length];
            for (int p = 0; p < bitmap.length; p++) {
                bitmap[p] = (byte) (probabilities[p] >= 0.5f ? 1 : 0);
            }
            assertEquals(Rle.encode(CANVAS, bitmap), paste.atLeast(0.5f), "box " + i);
        }
    }

    @Test
    void zeroPadsTheMap() {
        float[] map = {1, 0, 0.5f, 1};
        float[] found =
                new MaskPaste(
                                MaskStyle.MMDETECTION,
                                map,
                                Boxes.of(1, 1, 5, 5),
                                0,
                                2,
                                new Size(6, 6))
                        .probabilities();
        // Pixels are at -3/4, -1/4, 1/4, 3/4, 5/4 and 7/4 of a cell from the first cell.
        float[] row = {0.25f, 0.75f, 0.75f, 0.25f, 0, 0};
        for (int x = 0; x < 6; x++) {
            assertEquals(0.25f * row[x], found[x], 1e-6f);
            assertEquals(0.75f * row[x], found[6 + x], 1e-6f);
        }
    }

    /** The expected values were recorded from torchvision 0.22.1. */
    @Test
    void pastesLikeTorchvision() {
        float[] map = {0.9f, 0.2f, 0.4f, 0.8f};
        Boxes box = Boxes.of(1.3f, 0.7f, 5.6f, 3.9f);
        float[] found =
                new MaskPaste(MaskStyle.TORCHVISION, map, box, 0, 2, new Size(5, 7))
                        .probabilities();
        float[] expected = {
            0, 0, 0, 0, 0, 0, 0, //
            0, 0.1125f, 0.3375f, 0.3625f, 0.1875f, 0.0750f, 0.0250f,
            0, 0.2042f, 0.6125f, 0.6875f, 0.4292f, 0.2250f, 0.0750f,
            0, 0.1208f, 0.3625f, 0.5375f, 0.6458f, 0.5250f, 0.1750f,
            0, 0.0500f, 0.1500f, 0.2500f, 0.3500f, 0.3000f, 0.1000f
        };
        assertArrayEquals(expected, found, 1e-4f);
    }

    @Test
    void fillsFullBoxesToTheirBorders() {
        float[] map = new float[28 * 28];
        Arrays.fill(map, 1);
        Rle mask =
                new MaskPaste(MaskStyle.MMDETECTION, map, Boxes.of(4, 6, 14, 12), 0, 28, CANVAS)
                        .atLeast(0.5f);
        assertEquals(Rle.fromBox(CANVAS, 4, 6, 10, 6), mask);
    }

    @Test
    void nativeOperatorFindsTheSamePixels() {
        assumeTrue(Kernels.status().loaded());
        Random random = new Random(2);
        int side = 28;
        float[] corners = Arrays.copyOf(BOXES.toArray(), 4 * 100);
        for (int i = 4 * BOXES.size(); i < corners.length; i++) {
            corners[i] = random.nextFloat() * 50 - 5;
        }
        Boxes boxes = Boxes.of(corners);
        float[] maps = new float[boxes.size() * side * side];
        for (int i = 0; i < maps.length; i++) {
            maps[i] = random.nextInt(5) / 4f;
        }
        Script script =
                Script.compile(
                        "(masks: Tensor, boxes: Tensor) -> Tensor",
                        "return ops.saccade.paste_masks(masks, boxes, 30, 40, 0.5)");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray pasted =
                    script.run(
                            Tensors.of(manager, maps, new Shape(boxes.size(), side, side)),
                            Tensors.of(manager, corners, new Shape(boxes.size(), 4)));
            assertEquals(new Shape(boxes.size(), 30, 40), pasted.getShape());
            for (int i = 0; i < boxes.size(); i++) {
                Rle expected =
                        new MaskPaste(MaskStyle.MMDETECTION, maps, boxes, i, side, CANVAS)
                                .atLeast(0.5f);
                assertArrayEquals(expected.decode(), pasted.get(i).toByteArray(), "box " + i);
            }
        }
    }

    @Test
    void boxesOutsideAreEmpty() {
        float[] map = {1};
        Rle mask = new MaskPaste(MaskStyle.MMDETECTION, map, BOXES, 4, 1, CANVAS).atLeast(0.5f);
        assertEquals(0, mask.area());
        assertEquals(CANVAS, mask.size());
    }
}
