package dev.saccade.cli;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Photo;

import java.util.List;

/** Some photographs of a data set, as one of their own. */
final class PartOfDataset implements Dataset {

    private final Dataset whole;
    private final ImmutableList<Integer> indices;
    private final ImmutableList<Photo> photos;

    /**
     * Takes photographs.
     *
     * @param indices of those that are in it, in the whole
     */
    PartOfDataset(Dataset whole, List<Integer> indices) {
        this.whole = whole;
        this.indices = ImmutableList.copyOf(indices);
        this.photos = indices.stream().map(whole::photo).collect(ImmutableList.toImmutableList());
    }

    @Override
    public List<String> classes() {
        return whole.classes();
    }

    @Override
    public long categoryId(int label) {
        return whole.categoryId(label);
    }

    @Override
    public List<Photo> photos() {
        return photos;
    }

    @Override
    public int semanticClasses() {
        return whole.semanticClasses();
    }

    @Override
    public List<Annotation> annotations(int index) {
        return whole.annotations(indices.get(index));
    }

    @Override
    public LabelMap labels(int index) {
        return whole.labels(indices.get(index));
    }
}
