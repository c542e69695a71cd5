package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.IndexPng;

import org.opencv.core.Mat;

import java.nio.file.Path;
import java.util.Map;

/**
 * The meaning of the pixels of label maps.
 *
 * @param areColors whether pixels are colors, {@code 0xRRGGBB}, not gray levels or indices
 * @param labels label by pixel value; {@link LabelMap#IGNORE} for no class
 */
public record PixelEncoding(boolean areColors, Map<Integer, Integer> labels) {

    public PixelEncoding {
        labels = ImmutableMap.copyOf(labels);
    }

    /** Decodes a label map; throws if a pixel value is unknown. */
    public LabelMap read(Path file) {
        return areColors ? readColors(file) : readIndices(file);
    }

    private LabelMap readIndices(Path file) {
        IndexPng png = IndexPng.read(file);
        int[] counts = png.histogram();
        short[] labelOf = new short[counts.length];
        for (int number = 0; number < counts.length; number++) {
            Integer label = labels.get(number);
            if (label == null && counts[number] > 0) {
                throw SaccadeException.user(
                        "%s: unknown class index %d in %s, first in %s",
                        file, number, Count.of(counts[number], "pixel"), png.first(number));
            }
            labelOf[number] = (short) (label == null ? LabelMap.IGNORE : label);
        }
        short[] map = new short[png.values().length];
        for (int i = 0; i < map.length; i++) {
            map[i] = labelOf[Short.toUnsignedInt(png.values()[i])];
        }
        return LabelMap.of(png.size(), map);
    }

    private LabelMap readColors(Path file) {
        Mat image = ImageReader.read(file);
        Size size = new Size(image.rows(), image.cols());
        byte[] bgr = new byte[3 * image.rows() * image.cols()];
        image.get(0, 0, bgr);
        image.release();
        short[] map = new short[bgr.length / 3];
        int last = -1;
        for (int i = 0; i < map.length; i++) {
            int red = bgr[3 * i + 2] & 0xFF;
            int green = bgr[3 * i + 1] & 0xFF;
            int blue = bgr[3 * i] & 0xFF;
            int color = (red << 16) | (green << 8) | blue;
            Integer label = color == last ? Integer.valueOf(map[i - 1]) : labels.get(color);
            if (label == null) {
                throw SaccadeException.user(
                        "%s: color %d,%d,%d, first in row %d, column %d, is not in the color table",
                        file, red, green, blue, i / size.width(), i % size.width());
            }
            map[i] = label.shortValue();
            last = color;
        }
        return LabelMap.of(size, map);
    }
}
