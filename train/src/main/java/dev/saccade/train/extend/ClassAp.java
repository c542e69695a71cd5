package dev.saccade.train.extend;

import dev.saccade.core.Text;
import dev.saccade.eval.coco.ClassMetrics;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.IouType;

import java.util.List;
import java.util.Optional;

/**
 * AP of a class before and after an extension.
 *
 * @param metric {@code AP} of boxes or {@code mask_AP}
 * @param before empty for a new class or without validation objects
 * @param after empty without validation objects
 */
public record ClassAp(String name, String metric, Optional<Double> before, Optional<Double> after) {

    /** Headings of the table. */
    static final List<String> HEADS = List.of("class", "metric", "before", "after", "change");

    /** Returns the AP of each class after an extension. */
    static List<ClassAp> of(CocoMetrics metrics) {
        String metric = metrics.parameters().iouType() == IouType.BOX ? "AP" : "mask_AP";
        return metrics.perClass().stream()
                .map(each -> new ClassAp(each.name(), metric, Optional.empty(), defined(each)))
                .toList();
    }

    private static Optional<Double> defined(ClassMetrics metrics) {
        return metrics.objects() > 0 ? Optional.of(metrics.ap()) : Optional.empty();
    }

    static ClassAp named(List<ClassAp> all, String name) {
        return all.stream().filter(each -> each.name.equals(name)).findFirst().orElseThrow();
    }

    /** Returns the change from this AP to another. */
    ClassAp followedBy(ClassAp later) {
        return new ClassAp(name, metric, after, later.after);
    }

    /** Returns how much the AP decreased; 0 if unknown. */
    double drop() {
        return before.isPresent() && after.isPresent() ? before.get() - after.get() : 0;
    }

    List<String> row() {
        boolean isKnown = before.isPresent() && after.isPresent();
        return List.of(
                name,
                metric,
                text(before),
                text(after),
                isKnown ? change(after.get() - before.get()) : "-");
    }

    /** Formats a change; rounding first avoids "-0.000". */
    private static String change(double difference) {
        return Text.format("%+.3f", Math.round(difference * 1000) / 1000.0);
    }

    @Override
    public String toString() {
        return Text.format("%s: %s %s before, %s after", name, metric, text(before), text(after));
    }

    private static String text(Optional<Double> ap) {
        return ap.map(value -> Text.format("%.3f", value)).orElse("-");
    }
}
