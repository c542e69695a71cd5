package dev.saccade.export;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.ImageViews;
import dev.saccade.datasets.loader.ViewReader;
import dev.saccade.models.ModelSpec;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Some images of a data set. */
final class DatasetSubset implements Dataset {

    private final Dataset whole;
    private final ImmutableList<Integer> indices;
    private final ImmutableList<ImageFile> photos;

    private DatasetSubset(Dataset whole, List<Integer> indices) {
        this.whole = whole;
        this.indices = ImmutableList.copyOf(indices);
        this.photos = indices.stream().map(whole::image).collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns the first images that an exported model supports.
     *
     * @param size fixed size of its images; any size if empty
     * @param photos maximum number of images
     * @throws SaccadeException of kind user, if there is no such image
     */
    static DatasetSubset first(
            Dataset dataset,
            ModelSpec spec,
            Optional<Size> size,
            int photos,
            ProgressBar.Factory bars) {
        if (size.isEmpty()) {
            int most = Math.min(photos, dataset.size());
            return new DatasetSubset(dataset, IntStream.range(0, most).boxed().toList());
        }
        ViewReader reader = new ViewReader(List.of(spec.transforms()));
        TargetKind targets = spec.model().head().targets();
        List<Integer> taken = new ArrayList<>();
        Set<String> sizes = new LinkedHashSet<>();
        try (ProgressBar progress = bars.open("look", dataset.size(), " photos")) {
            for (int i = 0; i < dataset.size() && taken.size() < photos; i++) {
                if (size.get().equals(seen(dataset, reader, i, targets, sizes))) {
                    taken.add(i);
                }
                progress.step();
            }
        }
        if (taken.isEmpty()) {
            throw SaccadeException.user(
                    "size: got %s, but the images of the run are %s after its transforms;"
                            + " take one of these, or compare without images",
                    size.get().height() + "x" + size.get().width(), String.join(", ", sizes));
        }
        return new DatasetSubset(dataset, taken);
    }

    /** Returns the size of an image in the network; without padding for segmenters. */
    private static Size seen(
            Dataset dataset, ViewReader reader, int index, TargetKind targets, Set<String> sizes) {
        try (ImageViews views = reader.read(dataset, index)) {
            Batch batch = views.batches().get(0);
            Size size = targets.hasObjects() ? batch.size() : batch.images().get(0).size();
            sizes.add(size.height() + "x" + size.width());
            return size;
        }
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
    public List<ImageFile> images() {
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
