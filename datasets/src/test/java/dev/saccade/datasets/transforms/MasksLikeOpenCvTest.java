package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.Affine;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.OpenCv;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Point;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.SplittableRandom;

/** Run lengths are moved as OpenCV moves bitmaps, bit for bit. */
class MasksLikeOpenCvTest {

    static {
        OpenCv.load();
    }

    /** Some ellipses with holes, as objects are, of 0 and 1. */
    private static Mat bitmap(int height, int width, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Mat bitmap = Mat.zeros(height, width, CvType.CV_8UC1);
        for (int i = 0; i < 5; i++) {
            Imgproc.ellipse(
                    bitmap,
                    new Point(random.nextInt(width), random.nextInt(height)),
                    new org.opencv.core.Size(random.nextInt(width), random.nextInt(height)),
                    random.nextInt(180),
                    0,
                    360,
                    Scalar.all(i % 2 == 0 ? 1 : 0),
                    Imgproc.FILLED);
        }
        return bitmap;
    }

    private static Rle mask(Mat bitmap) {
        byte[] pixels = new byte[Math.toIntExact(bitmap.total())];
        bitmap.get(0, 0, pixels);
        return Rle.encode(new Size(bitmap.rows(), bitmap.cols()), pixels);
    }

    @Property(tries = 300)
    void resized(
            @ForAll @IntRange(min = 1, max = 150) int height,
            @ForAll @IntRange(min = 1, max = 150) int width,
            @ForAll @IntRange(min = 1, max = 400) int newHeight,
            @ForAll @IntRange(min = 1, max = 400) int newWidth,
            @ForAll long seed) {
        Mat bitmap = bitmap(height, width, seed);
        Mat resized = new Mat();
        org.opencv.core.Size size = new org.opencv.core.Size(newWidth, newHeight);
        Imgproc.resize(bitmap, resized, size, 0, 0, Imgproc.INTER_NEAREST);
        assertEquals(mask(resized), mask(bitmap).resize(new Size(newHeight, newWidth)));
    }

    @Property(tries = 300)
    void mirrored(
            @ForAll @IntRange(min = 1, max = 150) int height,
            @ForAll @IntRange(min = 1, max = 150) int width,
            @ForAll long seed) {
        Mat bitmap = bitmap(height, width, seed);
        Mat flipped = new Mat();
        Core.flip(bitmap, flipped, 1);
        assertEquals(mask(flipped), mask(bitmap).flipHorizontal());
        Core.flip(bitmap, flipped, 0);
        assertEquals(mask(flipped), mask(bitmap).flipVertical());
    }

    @Property(tries = 300)
    void transposed(
            @ForAll @IntRange(min = 1, max = 150) int height,
            @ForAll @IntRange(min = 1, max = 150) int width,
            @ForAll long seed) {
        Mat bitmap = bitmap(height, width, seed);
        Mat transposed = new Mat();
        Core.transpose(bitmap, transposed);
        assertEquals(mask(transposed), mask(bitmap).transpose());
        assertEquals(labels(transposed), labels(bitmap).transpose());
    }

    @Property(tries = 300)
    void warped(
            @ForAll @IntRange(min = 1, max = 150) int height,
            @ForAll @IntRange(min = 1, max = 150) int width,
            @ForAll @IntRange(min = 1, max = 300) int newHeight,
            @ForAll @IntRange(min = 1, max = 300) int newWidth,
            @ForAll @DoubleRange(min = -180, max = 180) double degrees,
            @ForAll @DoubleRange(min = 0.11, max = 3.1) double scale,
            @ForAll long seed) {
        Mat bitmap = bitmap(height, width, seed);
        Affine map =
                Affine.translation(newWidth / 2.3, newHeight / 2.1)
                        .after(Affine.shear(seed % 30 + 0.3, seed % 20 - 0.1))
                        .after(Affine.rotation(degrees + 0.0123))
                        .after(Affine.scaling(scale))
                        .after(Affine.translation(-width / 2.3, -height / 2.2));
        Mat matrix = new Mat(3, 3, CvType.CV_64F);
        matrix.put(0, 0, map.xx(), map.xy(), map.x0(), map.yx(), map.yy(), map.y0(), 0, 0, 1);
        Mat warped = new Mat();
        org.opencv.core.Size size = new org.opencv.core.Size(newWidth, newHeight);
        Imgproc.warpPerspective(
                bitmap, warped, matrix, size, Imgproc.INTER_NEAREST, 0, Scalar.all(0));
        Size target = new Size(newHeight, newWidth);
        assertEquals(mask(warped), mask(bitmap).warp(map, target));
        Imgproc.warpPerspective(
                bitmap, warped, matrix, size, Imgproc.INTER_NEAREST, 0, Scalar.all(255));
        assertEquals(labels(warped), labels(bitmap).warp(map, target));
    }

    private static LabelMap labels(Mat bitmap) {
        byte[] pixels = new byte[Math.toIntExact(bitmap.total())];
        bitmap.get(0, 0, pixels);
        short[] labels = new short[pixels.length];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = pixels[i];
        }
        return LabelMap.of(new Size(bitmap.rows(), bitmap.cols()), labels);
    }

    /** As the original of Boundary IoU: an erosion within a frame of background. */
    @Property(tries = 300)
    void eroded(
            @ForAll @IntRange(min = 1, max = 150) int height,
            @ForAll @IntRange(min = 1, max = 150) int width,
            @ForAll @DoubleRange(min = 0, max = 0.2) double ratio,
            @ForAll long seed) {
        Mat bitmap = bitmap(height, width, seed);
        int distance = (int) Math.max(1, Math.rint(ratio * Math.hypot(height, width)));
        Mat framed = new Mat();
        Core.copyMakeBorder(bitmap, framed, 1, 1, 1, 1, Core.BORDER_CONSTANT);
        Mat square = Mat.ones(3, 3, CvType.CV_8UC1);
        Imgproc.erode(framed, framed, square, new Point(-1, -1), distance);
        Mat boundary = new Mat();
        Core.subtract(bitmap, framed.submat(1, height + 1, 1, width + 1), boundary);
        assertEquals(mask(boundary), mask(bitmap).boundary(ratio));
    }
}
