package dev.saccade.datasets.check;

import dev.saccade.core.Workers;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.PixelStatistics.PerClass;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/** Counts labeled pixels while label maps are checked. */
public final class LabelCheck {

    /**
     * The check of an image and its label map.
     *
     * @param counts [classes + 1] pixels of each class, ignored ones last; none if unusable
     */
    public record Found(List<Finding> findings, Optional<long[]> counts) {

        /**
         * Returns the check of a label map that can be used; warns if it has no class.
         *
         * @param findings a modifiable list
         * @param pixels of the map
         */
        public static Found of(
                List<Finding> findings, String file, String subject, long[] counts, long pixels) {
            if (counts[counts.length - 1] == pixels) {
                findings.add(
                        Finding.warning(
                                file,
                                subject,
                                "all of its pixels are ignored, it is useless for training"));
            }
            return new Found(findings, Optional.of(counts));
        }
    }

    private LabelCheck() {}

    /**
     * Counts the pixels of a data set and reports its faults.
     *
     * @param file the data set, for messages
     * @param checks one for each image
     */
    public static PixelStatistics run(
            String file,
            List<String> classes,
            List<Callable<Found>> checks,
            CheckOptions options,
            Findings findings) {
        long[] pixels = new long[classes.size() + 1];
        int[] images = new int[classes.size() + 1];
        int[] usable = {0};
        Consumer<long[]> count =
                counts -> {
                    usable[0]++;
                    for (int label = 0; label < counts.length; label++) {
                        pixels[label] += counts[label];
                        images[label] += counts[label] > 0 ? 1 : 0;
                    }
                };
        run(
                checks,
                options,
                findings,
                found -> {
                    found.counts().ifPresent(count);
                    options.onImage().run();
                });
        long ignored = pixels[classes.size()];
        long total = Arrays.stream(pixels).sum() - ignored;
        if (total == 0 && ignored > 0) {
            findings.error(
                    file,
                    "no pixel of any label map has a class, so nothing can be learned or measured;"
                            + " see reduce_zero_label and ignore_index");
        }
        Map<String, PerClass> perClass = new LinkedHashMap<>();
        for (int label = 0; label < classes.size(); label++) {
            double fraction = total == 0 ? 0 : (double) pixels[label] / total;
            perClass.put(classes.get(label), new PerClass(pixels[label], fraction, images[label]));
        }
        return new PixelStatistics(usable[0], total, ignored, perClass);
    }

    /**
     * Reports the faults of label maps beside objects, whose images are checked by themselves.
     *
     * @param checks one for each label map
     */
    public static void run(List<Callable<Found>> checks, CheckOptions options, Findings findings) {
        run(checks, options, findings, found -> {});
    }

    private static void run(
            List<Callable<Found>> checks,
            CheckOptions options,
            Findings findings,
            Consumer<Found> onFound) {
        try (Workers workers = new Workers("dataset-check", options.threads())) {
            workers.run(
                    checks,
                    found -> {
                        found.findings().forEach(findings);
                        onFound.accept(found);
                    });
        }
    }
}
