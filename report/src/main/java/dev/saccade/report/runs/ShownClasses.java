package dev.saccade.report.runs;

import dev.saccade.core.Text;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The classes that have a curve in a chart: those with objects, but of many the most frequent ones,
 * so that their colors can be told apart.
 *
 * @param labels their positions, ascending
 * @param all how many classes have objects
 */
record ShownClasses(List<Integer> labels, int all) {

    private static final int MOST = 7;

    /**
     * Chooses among classes.
     *
     * @param objects how many objects there are of each
     */
    static ShownClasses of(List<Integer> objects) {
        List<Integer> present =
                IntStream.range(0, objects.size())
                        .filter(label -> objects.get(label) > 0)
                        .boxed()
                        .sorted(Comparator.comparing(label -> -objects.get(label)))
                        .toList();
        return new ShownClasses(present.stream().limit(MOST).sorted().toList(), present.size());
    }

    /** Returns the title of their chart. */
    String title(String shown) {
        return all > labels.size()
                ? Text.format("%s (the %d most frequent of %d classes)", shown, labels.size(), all)
                : shown;
    }
}
