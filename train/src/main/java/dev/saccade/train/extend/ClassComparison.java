package dev.saccade.train.extend;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;

import dev.saccade.core.Printable;
import dev.saccade.eval.detection.DetectionEvaluation;

import java.util.List;

/**
 * AP of classes before and after an extension.
 *
 * @param oldClasses AP of the old classes on the validation set of the run before
 * @param newClasses AP of the new classes on the new validation set
 */
public record ClassComparison(List<ClassAp> oldClasses, List<ClassAp> newClasses) {

    /** Tolerance for rounding of decimal fractions. */
    private static final double ROUNDING = 1e-9;

    public ClassComparison {
        oldClasses = ImmutableList.copyOf(oldClasses);
        newClasses = ImmutableList.copyOf(newClasses);
    }

    /**
     * Compares evaluations of the old images before and after, and reads the AP of new classes from
     * the evaluation of all images.
     */
    static ClassComparison of(
            DetectionEvaluation before,
            DetectionEvaluation after,
            DetectionEvaluation whole,
            List<String> newClasses) {
        ImmutableList.Builder<ClassAp> old = ImmutableList.builder();
        ImmutableList.Builder<ClassAp> added = ImmutableList.builder();
        for (int i = 0; i < before.metrics().size(); i++) {
            List<ClassAp> now = ClassAp.of(after.metrics().get(i));
            for (ClassAp each : ClassAp.of(before.metrics().get(i))) {
                old.add(each.followedBy(ClassAp.named(now, each.name())));
            }
            List<ClassAp> all = ClassAp.of(whole.metrics().get(i));
            newClasses.forEach(name -> added.add(ClassAp.named(all, name)));
        }
        return new ClassComparison(old.build(), added.build());
    }

    /** Returns the old classes whose AP decreased by more than a limit. */
    List<ClassAp> dropped(double maxDrop) {
        return oldClasses.stream().filter(each -> each.drop() > maxDrop + ROUNDING).toList();
    }

    /** Returns the largest decrease of an old class; 0 if no AP decreased. */
    double largestDrop() {
        return Math.max(0, oldClasses.stream().mapToDouble(ClassAp::drop).max().orElse(0));
    }

    /** Returns the smallest limit with three decimals that accepts all drops. */
    double acceptedDrop() {
        return Math.ceil(1000 * (largestDrop() - ROUNDING)) / 1000;
    }

    /** Returns the mean AP of the new classes with validation objects; of masks, if predicted. */
    double newAp() {
        String metric = Iterables.getLast(newClasses).metric();
        return newClasses.stream()
                .filter(each -> each.metric().equals(metric))
                .flatMap(each -> each.after().stream())
                .mapToDouble(ap -> ap)
                .average()
                .orElse(0);
    }

    /** Returns a row of text per class: name, metric, AP before and after, and change. */
    public List<List<String>> rows() {
        return ImmutableList.copyOf(
                Iterables.transform(Iterables.concat(oldClasses, newClasses), ClassAp::row));
    }

    /** Returns a table of all classes as text. */
    @Override
    public String toString() {
        StringBuilder lines = new StringBuilder(line(ClassAp.HEADS));
        rows().forEach(row -> lines.append(System.lineSeparator()).append(line(row)));
        return lines.toString();
    }

    private static String line(List<String> row) {
        return Printable.format("%-24s %-8s %8s %8s %8s", row.toArray());
    }
}
