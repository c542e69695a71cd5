package dev.saccade.datasets.image;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** A PNG, JPEG, BMP or WebP, decoded as a whole; colors in the order red, green, blue, alpha. */
final class DecodedFile implements RasterFile {

    private static final int RGB = 3;

    private final Raster raster;
    private final String name;

    DecodedFile(String name, byte[] encoded) {
        this.name = name;
        Mat image = ImageReader.readStored(name, encoded);
        try {
            raster = raster(name, image);
        } finally {
            image.release();
        }
    }

    private static Raster raster(String name, Mat image) {
        int channels = image.channels();
        boolean bytes = image.depth() == CvType.CV_8U;
        SampleType type = bytes ? SampleType.UINT8 : SampleType.UINT16;
        Raster raster = Raster.allocate(name, image.rows(), image.cols(), channels, type);
        int values = image.cols() * channels;
        byte[] byteRow = new byte[bytes ? values : 0];
        short[] shortRow = new short[bytes ? 0 : values];
        ByteBuffer row = ByteBuffer.allocate(values * type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int y = 0; y < image.rows(); y++) {
            if (bytes) {
                image.get(y, 0, byteRow);
                row.put(0, byteRow);
            } else {
                image.get(y, 0, shortRow);
                row.asShortBuffer().put(0, shortRow);
            }
            for (int i = 0; i < values; i++) {
                int channel = i % channels;
                boolean isColor = channels >= RGB && channel < RGB;
                int from = isColor ? i + RGB - 1 - 2 * channel : i;
                type.copy(
                        row,
                        from * type.bytes(),
                        raster.samples(),
                        raster.index(y, 0, 0) + i * type.bytes());
            }
        }
        return raster;
    }

    @Override
    public int height() {
        return raster.height();
    }

    @Override
    public int width() {
        return raster.width();
    }

    @Override
    public int channels() {
        return raster.channels();
    }

    @Override
    public SampleType type() {
        return raster.type();
    }

    @Override
    public List<String> warnings() {
        return List.of();
    }

    @Override
    public Raster read(Window window) {
        return RasterFiles.reading(
                name,
                () -> {
                    RasterFiles.requireInside(this, window);
                    if (window.equals(new Window(0, 0, width(), height()))) {
                        return raster;
                    }
                    Raster part =
                            Raster.allocate(
                                    name, window.height(), window.width(), channels(), type());
                    for (int y = 0; y < window.height(); y++) {
                        part.samples()
                                .put(
                                        part.index(y, 0, 0),
                                        raster.samples(),
                                        raster.index(window.top() + y, window.left(), 0),
                                        window.width() * channels() * type().bytes());
                    }
                    return part;
                });
    }

    @Override
    public void close() {}
}
