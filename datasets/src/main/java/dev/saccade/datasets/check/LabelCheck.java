package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.core.Workers;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.PixelStatistics.PerClass;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Function;

public final class LabelCheck {

    /** Findings, and pixels per class ([classes + 1], ignored last) if the map is readable. */
    public record Result(List<Finding> findings, Optional<long[]> counts) {

        /** Returns the result for a readable label map; warns if all of its pixels are ignored. */
        public static Result of(
                List<Finding> findings, String file, String subject, long[] counts, long pixels) {
            if (counts[counts.length - 1] == pixels) {
                findings.add(
                        Finding.warning(file, subject, "all pixels are ignored; remove the image"));
            }
            return new Result(findings, Optional.of(counts));
        }
    }

    private LabelCheck() {}

    /** Returns pixel counts of a data set and reports faults; {@code check} checks an image. */
    public static <T> PixelStatistics run(
            String file,
            List<String> classes,
            List<T> items,
            Function<T, Result> check,
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
        Consumer<Result> receiver =
                found -> {
                    found.counts().ifPresent(count);
                    options.onImage().run();
                };
        run(items, check, options, findings, receiver);
        long ignored = pixels[classes.size()];
        long total = Arrays.stream(pixels).sum() - ignored;
        if (total == 0 && ignored > 0) {
            findings.error(
                    file,
                    "no pixel of any label map has a class; check reduce_zero_label and"
                            + " ignore_index");
        }
        Map<String, PerClass> perClass = new LinkedHashMap<>();
        for (int label = 0; label < classes.size(); label++) {
            double fraction = total == 0 ? 0 : (double) pixels[label] / total;
            perClass.put(classes.get(label), new PerClass(pixels[label], fraction, images[label]));
        }
        return new PixelStatistics(usable[0], total, ignored, perClass);
    }

    /** Reports the faults of the label maps of object data sets; images are checked separately. */
    public static <T> void run(
            List<T> items, Function<T, Result> check, CheckOptions options, Findings findings) {
        run(items, check, options, findings, found -> {});
    }

    private static <T> void run(
            List<T> items,
            Function<T, Result> check,
            CheckOptions options,
            Findings findings,
            Consumer<Result> receiver) {
        List<Callable<Result>> checks = new ArrayList<>();
        items.forEach(item -> checks.add(() -> check.apply(item)));
        try (Workers workers = new Workers("dataset-check", options.threads())) {
            workers.run(
                    checks,
                    found -> {
                        found.findings().forEach(findings);
                        receiver.accept(found);
                    });
        }
    }

    /** Returns a fault if the semantic head cannot train on this number of label map classes. */
    public static Optional<String> fault(int classes, CheckOptions options, String key) {
        if (classes == 0) {
            return Optional.of(
                    "has no label maps, but the model has a semantic_head; set"
                            + " label_maps to their folder, or semantic_head: null");
        }
        int most = options.semanticClasses();
        return classes <= most
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "%s is %d, but model.head.semantic_head.num_classes is %d; increase"
                                        + " num_classes",
                                key, classes, most));
    }
}
