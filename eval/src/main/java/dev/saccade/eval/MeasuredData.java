package dev.saccade.eval;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.models.TrainedModel;

/** What is asked of a data set before a model is measured on it. */
final class MeasuredData {

    private MeasuredData() {}

    /** Refuses a data set that is labelled with other classes than the model was trained for. */
    static void requireClasses(TrainedModel model, Dataset dataset) {
        if (!model.classes().equals(dataset.classes())) {
            throw SaccadeException.user(
                    "the data set is labelled with %s but the model was trained for %s; labels"
                            + " would be mixed up",
                    dataset.classes(), model.classes());
        }
    }

    /**
     * Refuses a data set with errors, as training does; of photographs the headers are read, and of
     * label maps all.
     */
    static void requireSound(TrainedModel model, Dataset dataset, int threads) {
        requireClasses(model, dataset);
        CheckOptions options =
                new CheckOptions(false, model.spec().model().head().targets(), threads, () -> {});
        DatasetCheck.run(dataset, options)
                .requireSound("the data set has errors; nothing was measured");
    }
}
