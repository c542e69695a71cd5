package dev.saccade.report.runs;

import dev.saccade.core.Text;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** The most frequent of {@code all} classes with objects; few enough to have distinct colors. */
record PlottedClasses(List<Integer> labels, int all) {

    private static final int MAX_CLASSES = 7;

    /** Selects classes by their number of objects, given by class index. */
    static PlottedClasses of(List<Integer> objects) {
        List<Integer> present =
                IntStream.range(0, objects.size())
                        .filter(label -> objects.get(label) > 0)
                        .boxed()
                        .sorted(Comparator.comparing(label -> -objects.get(label)))
                        .toList();
        return new PlottedClasses(
                present.stream().limit(MAX_CLASSES).sorted().toList(), present.size());
    }

    String title(String shown) {
        return all > labels.size()
                ? Text.format("%s (the %d most frequent of %d classes)", shown, labels.size(), all)
                : shown;
    }
}
