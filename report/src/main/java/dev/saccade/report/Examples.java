package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Some of {@code all} validation images: each row is an image, with an example per run. */
public record Examples(
        List<List<Example>> rows,
        List<String> runs,
        List<String> classes,
        double threshold,
        int all)
        implements Block {

    /** Checks that each row has an example for every run. */
    public Examples {
        rows = rows.stream().<List<Example>>map(ImmutableList::copyOf).toList();
        int columns = runs.size();
        checkArgument(
                rows.stream().allMatch(row -> row.size() == columns),
                "expected %s examples per row",
                columns);
    }

    public static Examples of(
            List<? extends Example> examples, List<String> classes, double threshold, int all) {
        return new Examples(
                examples.stream().map(example -> List.<Example>of(example)).toList(),
                List.of(""),
                classes,
                threshold,
                all);
    }

    public static Examples none(List<String> runs) {
        return new Examples(List.of(), runs, List.of(), 0, 0);
    }

    @Override
    public boolean isEmpty() {
        return rows.isEmpty();
    }

    @Override
    public void write(Markup out) {
        new ExampleWriter(out, this).write();
    }

    String className(int label) {
        return label < classes.size() ? classes.get(label) : "class " + label;
    }

    public Section section() {
        return new Section("Validation images", "", this);
    }

    public int size() {
        return rows.size();
    }

    /**
     * Selects up to {@code count} image indices, worst first. Half are evenly spread over the data
     * set, and so are the same for all models; the others are the worst of the remaining images.
     */
    public static List<Integer> select(int all, int count, Comparator<Integer> worstFirst) {
        int kept = Math.min(count, all);
        int spread = kept == all ? all : kept / 2;
        Set<Integer> chosen = new LinkedHashSet<>();
        for (int i = 0; i < spread; i++) {
            chosen.add((int) ((i + 0.5) * all / spread));
        }
        IntStream.range(0, all)
                .boxed()
                .filter(i -> !chosen.contains(i))
                .sorted(worstFirst)
                .limit(kept - chosen.size())
                .toList()
                .forEach(chosen::add);
        return chosen.stream().sorted().sorted(worstFirst).toList();
    }
}
