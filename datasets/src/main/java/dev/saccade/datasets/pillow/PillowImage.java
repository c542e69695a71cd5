package dev.saccade.datasets.pillow;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.Optional;

/** An 8-bit image in Java memory. */
final class PillowImage {

    static final int CHANNELS = 3;

    private final int height;
    private final int width;
    private final byte[] pixels;

    /** Creates an image from pixels {@code [H, W, 3]} BGR, which it shares. */
    PillowImage(int height, int width, byte[] pixels) {
        this.height = height;
        this.width = width;
        this.pixels = pixels;
    }

    /** Creates a black image. */
    PillowImage(int height, int width) {
        this(height, width, new byte[Math.multiplyExact(height * width, CHANNELS)]);
    }

    static PillowImage of(Mat image) {
        checkArgument(
                image.type() == CvType.CV_8UC3,
                "got pixels of type %s, expected 8 bits per channel; put transforms with float"
                        + " pixels after this one",
                CvType.typeToString(image.type()));
        PillowImage copy = new PillowImage(image.rows(), image.cols());
        if (image.isContinuous()) {
            image.get(0, 0, copy.pixels);
            return copy;
        }
        byte[] row = new byte[CHANNELS * copy.width];
        for (int y = 0; y < copy.height; y++) {
            image.get(y, 0, row);
            System.arraycopy(row, 0, copy.pixels, y * row.length, row.length);
        }
        return copy;
    }

    /** Returns the rectangle as a new image. */
    static PillowImage crop(Mat image, int top, int left, int height, int width) {
        Mat part = image.submat(top, top + height, left, left + width);
        try {
            return of(part);
        } finally {
            part.release();
        }
    }

    int height() {
        return height;
    }

    int width() {
        return width;
    }

    /** Returns the pixels {@code [H, W, 3]} BGR, not a copy. */
    byte[] pixels() {
        return pixels;
    }

    Mat toMat() {
        Mat image = new Mat(height, width, CvType.CV_8UC3);
        image.put(0, 0, pixels);
        return image;
    }

    /** Returns a new image with rows and columns swapped. */
    PillowImage transpose() {
        Mat image = toMat();
        Mat transposed = new Mat();
        try {
            Core.transpose(image, transposed);
            return of(transposed);
        } finally {
            image.release();
            transposed.release();
        }
    }

    static Sample replace(Sample sample, PillowImage image) {
        return replace(sample, image.toMat());
    }

    /** Returns a sample with another image; its scale is the new size over the old size. */
    static Sample replace(Sample sample, Mat image) {
        Size size = new Size(image.rows(), image.cols());
        ImageInfo info = sample.info();
        ImageInfo changed =
                info.size().equals(size)
                        ? info
                        : info.resized(
                                size,
                                (float) ((double) size.width() / info.size().width()),
                                (float) ((double) size.height() / info.size().height()));
        return sample.with(image, changed, sample.targets());
    }

    /** Returns why a transform of this package does not support targets other than classes. */
    static Optional<String> incompatibility(String type, TargetKind targets) {
        return targets == TargetKind.CLASSES
                ? Optional.empty()
                : Optional.of(
                        type
                                + " is for classification; it does not change boxes, masks and label"
                                + " maps");
    }

    /** Returns a new image with the value of each table entry, by pixel value. */
    PillowImage map(byte[] blue, byte[] green, byte[] red) {
        byte[] mapped = new byte[pixels.length];
        for (int i = 0; i < mapped.length; i += CHANNELS) {
            mapped[i] = blue[pixels[i] & 0xFF];
            mapped[i + 1] = green[pixels[i + 1] & 0xFF];
            mapped[i + 2] = red[pixels[i + 2] & 0xFF];
        }
        return new PillowImage(height, width, mapped);
    }

    /** Returns the gray values of Pillow's conversion to mode L, {@code [H, W]}. */
    byte[] gray() {
        byte[] gray = new byte[height * width];
        for (int i = 0; i < gray.length; i++) {
            int blue = pixels[CHANNELS * i] & 0xFF;
            int green = pixels[CHANNELS * i + 1] & 0xFF;
            int red = pixels[CHANNELS * i + 2] & 0xFF;
            gray[i] = (byte) ((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
        }
        return gray;
    }
}
