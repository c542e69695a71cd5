package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a data set of labelled pixels holds; files that cannot be read are not counted.
 *
 * @param photographs number of photographs
 * @param pixels number of pixels that have a class
 * @param ignored number of pixels without one
 * @param classes what there is of each class, in the order of the labels
 */
public record PixelStatistics(
        int photographs, long pixels, long ignored, Map<String, PerClass> classes)
        implements DatasetStatistics {

    /** Keeps a copy. */
    public PixelStatistics {
        classes = ImmutableMap.copyOf(classes);
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(classes.keySet());
    }

    /** Returns the error of label maps of which no pixel has a class. */
    Optional<Finding> fault(String file) {
        return pixels == 0 && ignored > 0
                ? Optional.of(
                        Finding.error(
                                file,
                                "",
                                "no pixel of any label map has a class, so nothing can be learned"
                                        + " or measured; see reduce_zero_label and ignore_index"))
                : Optional.empty();
    }

    /** Returns the warning of a label map of which no pixel has a class. */
    static Optional<Finding> warning(String file, String subject, long[] counts, long pixels) {
        return counts[counts.length - 1] == pixels
                ? Optional.of(
                        Finding.warning(
                                file, subject, "all of its pixels are ignored, it teaches nothing"))
                : Optional.empty();
    }

    /**
     * What there is of a class.
     *
     * @param pixels number of its pixels
     * @param share of all pixels that have a class, 0 to 1
     * @param photographs number of photographs that show it
     */
    public record PerClass(long pixels, double share, int photographs) {}

    /** Adds up the pixels of photographs. */
    static final class Builder {

        private final List<String> classes;
        private final long[] pixels;
        private final int[] shown;
        private int photographs;

        Builder(List<String> classes) {
            this.classes = classes;
            this.pixels = new long[classes.size() + 1];
            this.shown = new int[classes.size() + 1];
        }

        /**
         * Counts a photograph.
         *
         * @param counts [classes + 1] pixels of each class, ignored ones last
         */
        void add(long[] counts) {
            photographs++;
            for (int label = 0; label < counts.length; label++) {
                pixels[label] += counts[label];
                shown[label] += counts[label] > 0 ? 1 : 0;
            }
        }

        PixelStatistics build() {
            long total = 0;
            for (int label = 0; label < classes.size(); label++) {
                total += pixels[label];
            }
            Map<String, PerClass> perClass = new LinkedHashMap<>();
            for (int label = 0; label < classes.size(); label++) {
                double share = total == 0 ? 0 : (double) pixels[label] / total;
                perClass.put(classes.get(label), new PerClass(pixels[label], share, shown[label]));
            }
            return new PixelStatistics(photographs, total, pixels[classes.size()], perClass);
        }
    }
}
