package dev.saccade.core.ops.vision;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.Longs;

import dev.saccade.core.Text;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

class MaskCropTest {

    private static final Size SIZE = new Size(90, 120);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    private final List<Rle> masks = new ArrayList<>();
    private final float[] boxes = new float[4 * 200];

    @BeforeEach
    void draw() {
        Random random = new Random(5);
        for (int i = 0; i < 200; i++) {
            masks.add(i % 5 == 0 ? noise(random) : polygon(random));
            // Corners at half pixels give means of exactly 0.5.
            for (int t = 0; t < 4; t++) {
                float range = (t % 2 == 0 ? SIZE.width() : SIZE.height()) + 20;
                float corner = random.nextFloat() * range - 10;
                boxes[4 * i + t] = i % 2 == 0 ? Math.round(2 * corner) / 2f : corner;
            }
            order(boxes, 4 * i);
            order(boxes, 4 * i + 1);
        }
    }

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void equalsRoiAlignOfTheBitmap() {
        int side = 28;
        float[] cropped = crop(masks, Boxes.of(boxes), side);
        for (int i = 0; i < 200; i++) {
            Boxes box = Boxes.of(boxes).select(i).clip(SIZE);
            byte[] bitmap = masks.get(i).decode();
            for (int bin = 0; bin < side * side; bin++) {
                assertEquals(
                        mean(bitmap, box, side, bin) >= 0.5f ? 1 : 0,
                        cropped[i * side * side + bin],
                        "mask " + i + " bin " + bin);
            }
        }
    }

    @Test
    void equalsBitmapsOnTheDevice() {
        assumeTrue(Kernels.status().loaded());
        // Masks of several sizes share a canvas, but must end at their own border.
        List<Rle> all = new ArrayList<>(masks);
        all.add(Rle.fromBox(new Size(40, 200), 150, 10, 50, 30));
        all.add(Rle.fromBox(new Size(1, 1), 0, 0, 1, 1));
        all.add(Rle.fromBox(SIZE, 0, 0, 120, 90));
        List<Integer> objects = new ArrayList<>();
        IntStream.range(0, all.size()).forEach(i -> objects.add(all.size() - 1 - i));
        float[] corners = Arrays.copyOf(boxes, 4 * all.size());
        for (int i = 200; i < all.size(); i++) {
            System.arraycopy(boxes, 4 * (i - 200), corners, 4 * i, 4);
        }
        System.arraycopy(new float[] {100, 5.5f, 203, 47}, 0, corners, 4, 4);
        MaskCrop host = new MaskCrop(MaskStyle.MMDETECTION, all, Optional.empty());
        MaskBitmaps bitmaps = MaskBitmaps.draw(manager, all);
        for (int g = 0; g < all.size(); g++) {
            Size size = all.get(g).size();
            byte[] drawn =
                    bitmaps.bitmaps()
                            .get(Text.format("%d,:%d,:%d", g, size.height(), size.width()))
                            .toByteArray();
            assertArrayEquals(all.get(g).decode(), drawn, "mask " + g);
        }
        NDArray index = manager.create(Longs.toArray(objects));
        NDArray at = manager.create(corners, new Shape(all.size(), 4));
        NDArray expected = host.crop(index, at, 14);
        NDArray found =
                new MaskCrop(MaskStyle.MMDETECTION, all, Optional.of(bitmaps)).crop(index, at, 14);
        assertEquals(expected.getShape(), found.getShape());
        assertArrayEquals(expected.toFloatArray(), found.toFloatArray());
    }

    /** The expected values were recorded from torchvision 0.22.1. */
    @Test
    void cropsLikeTorchvision() {
        Rle mask = Rle.fromBox(new Size(6, 7), 2, 1, 4, 3);
        NDArray index = manager.create(new long[] {0, 0});
        float[] corners = {0.5f, 1.25f, 6.1f, 5.5f, 2, 2, 2.4f, 2.4f};
        NDArray boxes = manager.create(corners, new Shape(2, 4));
        float[] found =
                MaskCrop.of(MaskStyle.TORCHVISION, boxes, List.of(mask))
                        .crop(index, boxes, 3)
                        .toFloatArray();
        float[] expected = {
            0.45f, 1, 0.6833f, 0.2813f, 0.625f, 0.4271f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1
        };
        assertArrayEquals(expected, found, 1e-4f);
    }

    @Test
    void supportsEmptyMasks() {
        NDArray index = manager.create(new long[] {0});
        NDArray box = manager.create(new float[] {0, 0, 1, 1}, new Shape(1, 4));
        assertArrayEquals(
                new float[4],
                MaskCrop.of(MaskStyle.MMDETECTION, box, List.of())
                        .crop(index, box, 2)
                        .toFloatArray());
        assumeTrue(Kernels.status().loaded());
        Optional<MaskBitmaps> none = Optional.of(MaskBitmaps.draw(manager, List.of()));
        assertArrayEquals(
                new float[4],
                new MaskCrop(MaskStyle.MMDETECTION, List.of(), none)
                        .crop(index, box, 2)
                        .toFloatArray());
    }

    @Test
    void emptyBoxesGiveZeros() {
        Rle all = Rle.fromBox(SIZE, 0, 0, 120, 90);
        Boxes boxes = Boxes.of(10, 10, 10, 30, 130, 5, 150, 20, 5, 60, 40, 60);
        assertArrayEquals(new float[12], crop(List.of(all, all, all), boxes, 2));
    }

    @Test
    void includesTheLastPixel() {
        Rle one = Rle.fromBox(new Size(1, 1), 0, 0, 1, 1);
        float[] ones = {1, 1, 1, 1};
        assertArrayEquals(ones, crop(List.of(one), Boxes.of(0, 0, 1, 1), 2));
        Rle all = Rle.fromBox(SIZE, 0, 0, 120, 90);
        assertArrayEquals(ones, crop(List.of(all), Boxes.of(118, 88, 130, 99), 2));
    }

    /** Crops a box from each mask. */
    private float[] crop(List<Rle> masks, Boxes boxes, int side) {
        NDArray corners = manager.create(boxes.toArray(), new Shape(boxes.size(), 4));
        NDArray index = manager.arange(0f, masks.size(), 1f, DataType.INT64);
        NDArray cropped =
                MaskCrop.of(MaskStyle.MMDETECTION, corners, masks).crop(index, corners, side);
        assertEquals(new Shape(masks.size(), side, side), cropped.getShape());
        return cropped.toFloatArray();
    }

    private static void order(float[] boxes, int i) {
        float low = Math.min(boxes[i], boxes[i + 2]);
        boxes[i + 2] = Math.max(boxes[i], boxes[i + 2]);
        boxes[i] = low;
    }

    private static Rle noise(Random random) {
        byte[] bitmap = new byte[(int) SIZE.area()];
        for (int i = 0; i < bitmap.length; i++) {
            bitmap[i] = (byte) random.nextInt(2);
        }
        return Rle.encode(SIZE, bitmap);
    }

    private static Rle polygon(Random random) {
        double[] corners = new double[10];
        for (int i = 0; i < corners.length; i++) {
            corners[i] = random.nextInt(i % 2 == 0 ? SIZE.width() : SIZE.height());
        }
        return Rle.fromPolygon(SIZE, corners);
    }

    /** The definition, point by point and without shortcuts. */
    private static float mean(byte[] bitmap, Boxes box, int side, int bin) {
        float left = box.x1(0) - 0.5f;
        float top = box.y1(0) - 0.5f;
        float width = (box.x2(0) - 0.5f - left) / side;
        float height = (box.y2(0) - 0.5f - top) / side;
        int nx = (int) Math.ceil(width);
        int ny = (int) Math.ceil(height);
        float sum = 0;
        for (int point = 0; point < nx * ny; point++) {
            int row = bin / side;
            int column = bin % side;
            int pointRow = point / nx;
            int pointColumn = point % nx;
            float y = Math.max(0, top + row * height + (pointRow + 0.5f) * height / ny);
            float x = Math.max(0, left + column * width + (pointColumn + 0.5f) * width / nx);
            int y0 = Math.min((int) y, SIZE.height() - 1);
            int x0 = Math.min((int) x, SIZE.width() - 1);
            int y1 = Math.min(y0 + 1, SIZE.height() - 1);
            int x1 = Math.min(x0 + 1, SIZE.width() - 1);
            float ly = y0 == y1 ? 0 : y - y0;
            float lx = x0 == x1 ? 0 : x - x0;
            sum +=
                    (1 - ly) * (1 - lx) * bitmap[y0 * SIZE.width() + x0]
                            + (1 - ly) * lx * bitmap[y0 * SIZE.width() + x1]
                            + ly * (1 - lx) * bitmap[y1 * SIZE.width() + x0]
                            + ly * lx * bitmap[y1 * SIZE.width() + x1];
        }
        return sum / Math.max(1, nx * ny);
    }
}
