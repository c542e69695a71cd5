package dev.saccade.eval;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.models.TrainedModel;

/** Whether a model was trained for the classes that a data set is labelled with. */
final class TrainedClasses {

    private TrainedClasses() {}

    /** Refuses to measure a model that was trained for others. */
    static void require(TrainedModel model, Dataset dataset) {
        if (!model.classes().equals(dataset.classes())) {
            throw SaccadeException.user(
                    "the data set is labelled with %s but the model was trained for %s; labels"
                            + " would be mixed up",
                    dataset.classes(), model.classes());
        }
    }
}
