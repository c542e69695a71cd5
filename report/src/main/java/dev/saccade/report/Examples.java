package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Validation images with ground truth and predictions, of one run or of several.
 *
 * @param pictures from top to bottom; of each, the example of every run
 * @param runs names of the runs
 * @param classes class names
 * @param threshold initial minimum score of detections, 0 to 1
 * @param all number of validation images
 */
public record Examples(
        List<List<Example>> pictures,
        List<String> runs,
        List<String> classes,
        double threshold,
        int all)
        implements Block {

    /** Copies the lists, and checks that each picture has an example of every run. */
    public Examples {
        pictures = pictures.stream().<List<Example>>map(ImmutableList::copyOf).toList();
        int columns = runs.size();
        checkArgument(pictures.stream().allMatch(row -> row.size() == columns), "%s runs", columns);
    }

    /** Returns the examples of one run. */
    public static Examples of(
            List<? extends Example> examples, List<String> classes, double threshold, int all) {
        return new Examples(
                examples.stream().map(example -> List.<Example>of(example)).toList(),
                List.of(""),
                classes,
                threshold,
                all);
    }

    /** Returns no examples of some runs. */
    public static Examples none(List<String> runs) {
        return new Examples(List.of(), runs, List.of(), 0, 0);
    }

    @Override
    public boolean isEmpty() {
        return pictures.isEmpty();
    }

    @Override
    public void write(Markup out) {
        new ExampleWriter(out, this).write();
    }

    String className(int label) {
        return label < classes.size() ? classes.get(label) : "class " + label;
    }

    /** Returns the section with the examples. */
    public Section section() {
        return new Section("Validation images", "", this);
    }

    /** Returns the number of pictures. */
    public int size() {
        return pictures.size();
    }

    /**
     * Selects images, the worst first: one half is evenly spread over all, and so the same for
     * every model; the others are the worst of the rest.
     *
     * @param all number of images
     * @param count maximum number of selected images
     * @param worstFirst order of their indices
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
