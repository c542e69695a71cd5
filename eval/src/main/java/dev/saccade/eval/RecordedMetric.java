package dev.saccade.eval;

import com.google.common.primitives.Doubles;

import dev.saccade.core.Text;

import java.util.Map;
import java.util.Optional;

/**
 * Metric that selects the best checkpoint of a run.
 *
 * @param best best value on the validation set during training; NaN if unknown
 */
public record RecordedMetric(String name, double best) {

    /** Metadata key of a checkpoint, written by {@code train}. */
    private static final String KEY = "run.best";

    /** Reads the value from the metadata of a checkpoint. */
    public static RecordedMetric of(String name, Map<String, String> metadata) {
        return new RecordedMetric(
                name,
                Optional.ofNullable(metadata.get(KEY)).map(Doubles::tryParse).orElse(Double.NaN));
    }

    /**
     * Returns a note if a metric of the original model is less than half of the best value.
     *
     * @param metrics metrics of the original model
     * @param images evaluated images, such as {@code training images}
     */
    public Optional<String> note(Map<String, Double> metrics, String images) {
        double now = metrics.getOrDefault(name, Double.NaN);
        return now < best / 2
                ? Optional.of(
                        Text.format(
                                "note: %s of the original model is only %.4f on the %s, but the best"
                                        + " of its run is %.4f; check these images and their labels",
                                name, now, images, best))
                : Optional.empty();
    }
}
