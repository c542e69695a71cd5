package dev.saccade.eval;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;

import dev.saccade.core.Count;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Selects the layers to quantize so that AP, mask AP, mIoU and top-1 drop by at most a limit.
 *
 * <p>Starts with all layers. While a metric on sample images drops by more than the limit, another
 * 10 % of the layers stay in float, beginning with the largest errors.
 *
 * <p>A metric that increases has not dropped. With few objects, the metrics of the sample are
 * noisy, so an acceptable selection can fail on the validation set; use more images then. A sample
 * without objects accepts any selection.
 *
 * @param maxDrop maximum drop of each metric, from 0 to 1
 */
public record LayerSelection(double maxDrop) {

    public static final double MAX_DROP = 0.003;

    /** Default number of sample images. */
    public static final int IMAGES = 64;

    private static final Set<String> METRICS = ImmutableSet.of("AP", "mask_AP", "mIoU", "top1");

    /** Number of steps until all layers are in float. */
    private static final int STEPS = 10;

    /** Adds a problem if the maximum drop is invalid. */
    public static void check(double maxDrop, Problems problems) {
        if (!(maxDrop >= 0 && maxDrop <= 1)) {
            problems.add("max-drop: got %s, expected a number from 0 to 1", maxDrop);
        }
    }

    /** Returns a note if there are fewer training images than requested. */
    public static Optional<String> note(int images, int requested) {
        return images < requested
                ? Optional.of(
                        Text.format(
                                "note: found only %s, fewer than the requested %d",
                                Count.of(images, "suitable training image"), requested))
                : Optional.empty();
    }

    /** Returns the metrics that must not drop. */
    public static Map<String, Double> metrics(Map<String, Double> all) {
        return Maps.filterKeys(all, METRICS::contains);
    }

    /**
     * Returns the largest selection without too large a drop, in the order of {@code errors}.
     *
     * @param errors error of each layer; NaN counts as the largest
     * @param images number of sample images
     * @param before metrics of the float model
     * @param quantized returns the metrics with the given layers quantized
     */
    public List<String> select(
            Map<String, Double> errors,
            int images,
            Map<String, Double> before,
            Function<List<String>, Map<String, Double>> quantized) {
        // NaN is larger than all numbers.
        List<String> ascending =
                errors.keySet().stream().sorted(Comparator.comparing(errors::get)).toList();
        int step = (ascending.size() + STEPS - 1) / STEPS;
        Map<String, Double> after = Map.of();
        for (int count = ascending.size(); count > 0; count -= step) {
            Set<String> chosen = ImmutableSet.copyOf(ascending.subList(0, count));
            List<String> layers = errors.keySet().stream().filter(chosen::contains).toList();
            after = quantized.apply(layers);
            if (largeDrops(before, after).isEmpty()) {
                return layers;
            }
        }
        throw SaccadeException.user(
                        "not quantized: on %d training images, %s with at most %d of %d layers"
                                + " quantized, but may drop by at most %s; allow a larger drop or"
                                + " use more images",
                        images,
                        String.join(", ", largeDrops(before, after)),
                        step,
                        ascending.size(),
                        maxDrop)
                .withSettings("max-drop", "images");
    }

    /**
     * Rejects a quantized model by its metrics on the validation set.
     *
     * @param model name for the message
     */
    public void requireSmallDrop(
            String model, int images, Map<String, Double> before, Map<String, Double> after) {
        if (before.isEmpty()) {
            throw SaccadeException.user(
                    "%s: not quantized: the metrics of the validation set are undefined; use a"
                            + " validation set with labels of the model's classes",
                    model);
        }
        List<String> drops = largeDrops(before, after);
        if (!drops.isEmpty()) {
            throw SaccadeException.user(
                            "%s: not quantized: on the %d validation images, %s, but may drop by at"
                                    + " most %s; allow a larger drop or use more images",
                            model, images, String.join(", ", drops), maxDrop)
                    .withSettings("max-drop", "images");
        }
    }

    private List<String> largeDrops(Map<String, Double> before, Map<String, Double> after) {
        List<String> drops = new ArrayList<>();
        before.forEach(
                (name, value) -> {
                    double other = after.getOrDefault(name, Double.NaN);
                    if (!(value - other <= maxDrop)) {
                        drops.add(Text.format("%s drops from %.4f to %.4f", name, value, other));
                    }
                });
        return drops;
    }
}
