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

/** Counts labeled pixels while label maps are checked. */
public final class LabelCheck {

    /**
     * The check of an image and its label map.
     *
     * @param counts [classes + 1] pixels of each class, ignored ones last; none if unusable
     */
    public record Result(List<Finding> findings, Optional<long[]> counts) {

        /**
         * Returns the check of a label map that can be used; warns if it has no class.
         *
         * @param findings a modifiable list
         * @param pixels of the map
         */
        public static Result of(
                List<Finding> findings, String file, String subject, long[] counts, long pixels) {
            if (counts[counts.length - 1] == pixels) {
                findings.add(
                        Finding.warning(
                                file,
                                subject,
                                "all of its pixels are ignored, it is useless for training"));
            }
            return new Result(findings, Optional.of(counts));
        }
    }

    private LabelCheck() {}

    /**
     * Counts the pixels of a data set and reports its faults.
     *
     * @param file the data set, for messages
     * @param check the check of an item, which is an image and its label map
     */
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

    /** Reports the faults of label maps beside objects, whose images are checked separately. */
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

    /**
     * Compares the number of classes of label maps beside objects with a semantic head.
     *
     * @param classes of the label maps; 0 if there are none
     * @param key the setting of the number, for messages
     */
    public static Optional<String> fault(int classes, CheckOptions options, String key) {
        if (classes == 0) {
            return Optional.of(
                    "has no label maps beside its objects, but the semantic_head of the model predicts"
                            + " the class of every pixel; in COCO's format label_maps names their"
                            + " folder, and semantic_head: null does without them");
        }
        int most = options.semanticClasses();
        return classes <= most
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "%s is %d, but model.head.semantic_head.num_classes is %d, expected at"
                                        + " least as many",
                                key, classes, most));
    }
}
