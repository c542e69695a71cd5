package dev.saccade.eval;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.models.TrainedModel;

import java.util.List;
import java.util.function.Function;
import java.util.function.IntConsumer;

/**
 * Runs models over the photographs of a data set for an {@link Evaluator}, reading photographs
 * ahead and measuring on threads.
 */
public final class DatasetInference {

    private final Dataset dataset;
    private final int workers;

    /**
     * Prepares to look at a data set.
     *
     * @param workers threads that read photographs, each holding all views of one, and as many that
     *     measure
     */
    public DatasetInference(Dataset dataset, int workers) {
        this.dataset = dataset;
        this.workers = workers;
    }

    /**
     * Runs a trained model, in the views it was made for.
     *
     * @param progress told the number of photographs that are done, after each
     * @throws SaccadeException of kind user, if it was trained for other classes
     */
    public <P> void run(TrainedModel<P> model, Evaluator<P> evaluator, IntConsumer progress) {
        requireClasses(model);
        run(model.spec().viewTransforms(), model::predict, evaluator, progress);
    }

    /**
     * Runs a model.
     *
     * @param views what is done to a photograph in each view that the model is shown
     * @param model gives what is predicted for the photograph of some views, in its pixels
     * @param evaluator told of every photograph
     * @param progress told the number of photographs that are done, after each
     */
    public <P> void run(
            List<List<Transform>> views,
            Function<PhotoViews, P> model,
            Evaluator<P> evaluator,
            IntConsumer progress) {
        evaluator.reset();
        try (DataLoader<PhotoViews> loader = DataLoader.testing(dataset, views, workers);
                DataLoader<PhotoViews>.Epoch photos = loader.epoch(0);
                Workers measuring = new Workers("saccade-eval", workers)) {
            for (int i = 0; i < dataset.size(); i++) {
                int index = i;
                P predicted = predict(model, photos);
                measuring.start(() -> evaluator.process(index, predicted));
                progress.accept(i + 1);
            }
            measuring.finish();
        }
    }

    private static <P> P predict(
            Function<PhotoViews, P> model, DataLoader<PhotoViews>.Epoch photos) {
        try (PhotoViews photo = photos.next()) {
            return model.apply(photo);
        }
    }

    private void requireClasses(TrainedModel<?> model) {
        if (!model.classes().equals(dataset.classes())) {
            throw SaccadeException.user(
                    "the data set is labeled with %s but the model was trained for %s; labels"
                            + " would be mixed up",
                    dataset.classes(), model.classes());
        }
    }

    /**
     * Refuses a data set with errors, as training does; of photographs the headers are read, and of
     * label maps all.
     *
     * @throws SaccadeException of kind user, if there are errors, or the model was trained for
     *     other classes
     */
    public void requireSound(TrainedModel<?> model) {
        requireClasses(model);
        CheckOptions options =
                new CheckOptions(false, model.spec().model().head().targets(), workers, () -> {});
        DatasetCheck.run(dataset, options)
                .requireSound("the data set has errors; nothing was measured");
    }
}
