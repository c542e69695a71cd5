package dev.saccade.datasets.check;

import dev.saccade.core.Workers;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.PixelStatistics.PerClass;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/** Counts labeled pixels while label maps are checked, and tells of maps that teach nothing. */
public final class LabelCheck {

    /**
     * What was found in a photograph and its label map.
     *
     * @param counts [classes + 1] pixels of each class, ignored ones last; none if unusable
     */
    public record Found(List<Finding> findings, Optional<long[]> counts) {}

    private final List<String> classes;
    private final long[] pixels;
    private final int[] shown;
    private int photographs;

    private LabelCheck(List<String> classes) {
        this.classes = classes;
        this.pixels = new long[classes.size() + 1];
        this.shown = new int[classes.size() + 1];
    }

    /**
     * Returns what a data set holds and reports what is wrong with it.
     *
     * @param file what stands for the data set as a whole
     * @param checks one for each photograph
     */
    public static PixelStatistics run(
            String file,
            List<String> classes,
            List<Callable<Found>> checks,
            CheckOptions options,
            Findings findings) {
        LabelCheck check = new LabelCheck(classes);
        run(
                checks,
                options,
                findings,
                found -> {
                    found.counts().ifPresent(check::count);
                    options.onImage().run();
                });
        PixelStatistics held = check.statistics();
        if (held.pixels() == 0 && held.ignored() > 0) {
            findings.accept(
                    Finding.error(
                            file,
                            "",
                            "no pixel of any label map has a class, so nothing can be learned or"
                                    + " measured; see reduce_zero_label and ignore_index"));
        }
        return held;
    }

    /**
     * Reports what is wrong with label maps beside objects, whose photographs are checked by
     * themselves.
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

    /**
     * Returns the warning of a label map of which no pixel has a class.
     *
     * @param counts [classes + 1] pixels of each class, ignored ones last
     * @param pixels how many pixels the map has
     */
    public static Optional<Finding> warning(
            String file, String subject, long[] counts, long pixels) {
        return counts[counts.length - 1] == pixels
                ? Optional.of(
                        Finding.warning(
                                file, subject, "all of its pixels are ignored, it teaches nothing"))
                : Optional.empty();
    }

    private void count(long[] counts) {
        photographs++;
        for (int label = 0; label < counts.length; label++) {
            pixels[label] += counts[label];
            shown[label] += counts[label] > 0 ? 1 : 0;
        }
    }

    private PixelStatistics statistics() {
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
