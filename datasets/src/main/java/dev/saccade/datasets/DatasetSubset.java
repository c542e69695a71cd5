package dev.saccade.datasets;

import dev.saccade.core.structures.LabelMap;

import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** Subset of a data set, like {@code torch.utils.data.Subset}. */
public record DatasetSubset(Dataset dataset, List<Integer> indices, List<ImageFile> images)
        implements Dataset {

    public static DatasetSubset of(Dataset dataset, List<Integer> indices) {
        return new DatasetSubset(dataset, indices, indices.stream().map(dataset::image).toList());
    }

    /** Returns at most {@code count} images, evenly spaced, each of them once. */
    public static DatasetSubset spread(Dataset dataset, int count) {
        List<Integer> unique =
                IntStream.range(0, dataset.size())
                        .filter(index -> dataset.repetition(index) == 0)
                        .boxed()
                        .toList();
        int length = Math.min(count, unique.size());
        return of(
                dataset,
                IntStream.range(0, length)
                        .mapToObj(i -> unique.get((int) ((long) i * unique.size() / length)))
                        .toList());
    }

    @Override
    public List<String> classes() {
        return dataset.classes();
    }

    @Override
    public long categoryId(int label) {
        return dataset.categoryId(label);
    }

    @Override
    public int semanticClasses() {
        return dataset.semanticClasses();
    }

    @Override
    public List<Annotation> annotations(int index) {
        return dataset.annotations(indices.get(index));
    }

    @Override
    public OptionalInt label(int index) {
        return dataset.label(indices.get(index));
    }

    @Override
    public LabelMap labels(int index) {
        return dataset.labels(indices.get(index));
    }
}
