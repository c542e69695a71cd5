package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.ImageSource;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads images from files and bytes, and their headers. Each decoded image has the size that its
 * header states.
 */
record ImageTarget(String name, Format format, List<byte[]> seeds) implements FuzzTarget {

    private static final Path FILE = Path.of("image");

    @Override
    public List<byte[]> words() {
        return Bytes.split(
                "Exif\0\0|MM\0*|II*\0|eXIf|tRNS|PLTE|acTL|VP8X|VP8L|ALPH|ANIM|IEND|"
                        + "http://ns.adobe.com/xap/1.0/\0|Adobe\0|\u0001\u0012\0\u0003");
    }

    @Override
    public void enter(byte[] input) throws IOException {
        Files.write(FILE, input);
        Size size = size(ImageReader.read(FILE));
        assertEquals(size, size(ImageSource.of(input).read()), "bytes");
        try {
            assertEquals(size, ImageFile.read(1, FILE).size(), "header");
        } catch (SaccadeException e) {
            throw new AssertionError("decoded, but its header is refused", e);
        }
    }

    private static Size size(Mat image) {
        try {
            assertEquals(CvType.CV_8UC3, image.type());
            return new Size(image.rows(), image.cols());
        } finally {
            image.release();
        }
    }
}
