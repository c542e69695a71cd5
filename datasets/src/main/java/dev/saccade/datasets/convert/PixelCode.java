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

/** What the pixels of label maps mean. */
public sealed interface PixelCode {

    /**
     * Returns the labels in a file.
     *
     * @throws SaccadeException if it cannot be read, or has a pixel that means nothing; names both
     */
    LabelMap read(Path file);

    /**
     * Numbers, of gray levels or indices of a palette.
     *
     * @param labels the label of a number, {@link LabelMap#IGNORE} for no class
     */
    record Numbers(Map<Integer, Integer> labels) implements PixelCode {

        /** Keeps a copy. */
        public Numbers {
            labels = ImmutableMap.copyOf(labels);
        }

        @Override
        public LabelMap read(Path file) {
            IndexPng png = IndexPng.read(file);
            int[] counts = png.histogram();
            short[] labelOf = new short[counts.length];
            for (int number = 0; number < counts.length; number++) {
                Integer label = labels.get(number);
                if (label == null && counts[number] > 0) {
                    throw SaccadeException.user(
                            "%s: %d at %s, the first in %s, is the number of no class",
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
    }

    /**
     * Colors.
     *
     * @param labels the label of a color, {@code 0xRRGGBB}; {@link LabelMap#IGNORE} for no class
     */
    record Colors(Map<Integer, Integer> labels) implements PixelCode {

        /** Keeps a copy. */
        public Colors {
            labels = ImmutableMap.copyOf(labels);
        }

        @Override
        public LabelMap read(Path file) {
            Mat image = ImageReader.read(file);
            Size size = new Size(image.rows(), image.cols());
            byte[] bgr = new byte[3 * image.rows() * image.cols()];
            image.get(0, 0, bgr);
            image.release();
            short[] map = new short[bgr.length / 3];
            int last = -1;
            short label = 0;
            for (int i = 0; i < map.length; i++) {
                int color =
                        ((bgr[3 * i + 2] & 0xFF) << 16)
                                | ((bgr[3 * i + 1] & 0xFF) << 8)
                                | (bgr[3 * i] & 0xFF);
                if (color != last) {
                    label = label(file, color, i, size);
                    last = color;
                }
                map[i] = label;
            }
            return LabelMap.of(size, map);
        }

        private short label(Path file, int color, int at, Size size) {
            Integer label = labels.get(color);
            if (label == null) {
                throw SaccadeException.user(
                        "%s: color %d,%d,%d, first in row %d, column %d, is not in the table of"
                                + " colors",
                        file,
                        color >> 16,
                        (color >> 8) & 0xFF,
                        color & 0xFF,
                        at / size.width(),
                        at % size.width());
            }
            return label.shortValue();
        }
    }
}
