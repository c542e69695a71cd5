package dev.saccade.export;

import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.models.ModelSpec;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Selects the images that an exported model is compared on. */
final class ComparedImages {

    private ComparedImages() {}

    /**
     * Returns {@code count} evenly spaced images, because data sets are often sorted by class. With
     * {@code size}, returns only images of this model input size, and fails if there are none.
     */
    static DatasetSubset of(
            Dataset dataset,
            ModelSpec spec,
            Optional<Size> size,
            int count,
            ProgressBar.Factory bars) {
        if (size.isEmpty()) {
            return DatasetSubset.spread(dataset, count);
        }
        Set<Integer> order = new LinkedHashSet<>(DatasetSubset.spread(dataset, count).indices());
        IntStream.range(0, dataset.size()).forEach(order::add);
        InferenceReader reader = new InferenceReader(List.of(spec.transforms()), spec.pixels());
        boolean isPadded = spec.model().head().targets().hasObjects();
        List<Integer> selected = new ArrayList<>();
        Set<String> sizes = new LinkedHashSet<>();
        try (ProgressBar progress = bars.open("read", dataset.size(), " images")) {
            for (int index : order) {
                if (selected.size() == count) {
                    break;
                }
                try (InferenceInput input = reader.read(dataset, index)) {
                    Batch batch = input.batches().get(0);
                    Size inputSize = isPadded ? batch.size() : batch.images().get(0).size();
                    sizes.add(inputSize.height() + "x" + inputSize.width());
                    if (inputSize.equals(size.get())) {
                        selected.add(index);
                    }
                }
                progress.step();
            }
        }
        if (selected.isEmpty()) {
            throw SaccadeException.user(
                    "size: got %s, but the images of the run are %s after the transforms;"
                            + " choose one of these sizes, or compare without images",
                    size.get().height() + "x" + size.get().width(), String.join(", ", sizes));
        }
        return DatasetSubset.of(dataset, selected);
    }
}
