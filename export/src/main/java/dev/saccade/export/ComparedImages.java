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
     * Returns the first {@code count} images. With {@code size}, returns only images of this model
     * input size, and fails if there are none.
     */
    static DatasetSubset first(
            Dataset dataset,
            ModelSpec spec,
            Optional<Size> size,
            int count,
            ProgressBar.Factory bars) {
        if (size.isEmpty()) {
            int length = Math.min(count, dataset.size());
            return DatasetSubset.of(dataset, IntStream.range(0, length).boxed().toList());
        }
        InferenceReader reader = new InferenceReader(List.of(spec.transforms()));
        boolean isPadded = spec.model().head().targets().hasObjects();
        List<Integer> selected = new ArrayList<>();
        Set<String> sizes = new LinkedHashSet<>();
        try (ProgressBar progress = bars.open("read", dataset.size(), " images")) {
            for (int i = 0; i < dataset.size() && selected.size() < count; i++) {
                try (InferenceInput input = reader.read(dataset, i)) {
                    Batch batch = input.batches().get(0);
                    Size inputSize = isPadded ? batch.size() : batch.images().get(0).size();
                    sizes.add(inputSize.height() + "x" + inputSize.width());
                    if (inputSize.equals(size.get())) {
                        selected.add(i);
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
