package dev.saccade.eval;

import com.google.common.math.LongMath;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.ImageViews;
import dev.saccade.datasets.loader.ViewReader;
import dev.saccade.models.TrainedModel;

import java.math.RoundingMode;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Runs models on the images of a data set for an {@link Evaluator}; loads images ahead and
 * evaluates in threads.
 *
 * <p>Several ranks share the images; then the evaluator of rank 0 merges the results of the others.
 * Its metrics equal those of one process bit for bit.
 */
public final class DatasetInference {

    private static final byte[] WHOLE = {};
    private static final byte[] INTERRUPTED = {1};

    private final Dataset dataset;
    private final int workers;
    private final ProcessGroup ranks;

    /**
     * Prepares to look at a data set in this process alone.
     *
     * @param workers threads that read photographs, each holding all views of one, and as many that
     *     measure
     */
    public DatasetInference(Dataset dataset, int workers) {
        this(dataset, workers, ProcessGroup.alone());
    }

    /**
     * Prepares to look at a data set.
     *
     * @param workers threads that read photographs, each holding all views of one, and as many that
     *     measure
     * @param ranks share the photographs
     */
    public DatasetInference(Dataset dataset, int workers, ProcessGroup ranks) {
        this.dataset = dataset;
        this.workers = workers;
        this.ranks = ranks;
    }

    /** Returns the number of images that this rank processes. */
    public int size() {
        return first(ranks.rank() + 1) - first(ranks.rank());
    }

    /** Returns the index of the first image of a rank. */
    private int first(int rank) {
        return Math.toIntExact(
                LongMath.divide(
                        (long) dataset.size() * rank, ranks.worldSize(), RoundingMode.CEILING));
    }

    /**
     * Runs a trained model, in the views and tiles it was made for.
     *
     * @param progress told the number of photographs that are done in this rank, after each
     * @throws SaccadeException of kind user, if it was trained for other classes
     */
    public <P> void run(TrainedModel<P> model, Evaluator<P> evaluator, IntConsumer progress) {
        requireClasses(model);
        run(model.reader(), model::predict, evaluator, progress);
    }

    /**
     * Runs a model.
     *
     * @param reader makes the views that the model is shown
     * @param model gives what is predicted for the photograph of some views, in its pixels
     * @param evaluator told of every photograph; of those of other ranks in rank 0 alone
     * @param progress told the number of photographs that are done in this rank, after each; may
     *     throw {@link EvaluationInterrupted}
     * @throws EvaluationInterrupted if any rank was interrupted
     */
    public <P> void run(
            ViewReader reader,
            Function<ImageViews, P> model,
            Evaluator<P> evaluator,
            IntConsumer progress) {
        evaluator.reset();
        try {
            runOwn(reader, model, evaluator, progress);
        } catch (EvaluationInterrupted e) {
            ranks.allGather(INTERRUPTED);
            throw e;
        }
        if (ranks.allGather(WHOLE).stream().anyMatch(told -> told.length > 0)) {
            throw new EvaluationInterrupted();
        }
        merge(evaluator);
    }

    private <P> void runOwn(
            ViewReader reader,
            Function<ImageViews, P> model,
            Evaluator<P> evaluator,
            IntConsumer progress) {
        int first = first(ranks.rank());
        IntStream own = IntStream.range(first, first + size());
        try (DataLoader<ImageViews> loader = DataLoader.testing(dataset, own, reader, workers);
                DataLoader<ImageViews>.Epoch photos = loader.epoch(0);
                Workers measuring = new Workers("saccade-eval", workers)) {
            for (int i = 0; i < size(); i++) {
                int index = first + i;
                P predicted = predict(model, photos);
                measuring.start(() -> evaluator.process(index, predicted));
                progress.accept(i + 1);
            }
            measuring.finish();
        }
    }

    private void merge(Evaluator<?> evaluator) {
        for (int rank = 1; rank < ranks.worldSize(); rank++) {
            byte[] own = rank == ranks.rank() ? evaluator.collected() : new byte[0];
            byte[] received = ranks.broadcast(own, rank);
            if (ranks.rank() == 0) {
                evaluator.merge(received);
            }
        }
    }

    private static <P> P predict(
            Function<ImageViews, P> model, DataLoader<ImageViews>.Epoch photos) {
        try (ImageViews photo = photos.next()) {
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
    public void requireNoErrors(TrainedModel<?> model) {
        requireClasses(model);
        CheckOptions options =
                new CheckOptions(false, model.spec().model().head(), workers, () -> {});
        DatasetCheck.run(dataset, options.forEvaluation())
                .requireNoErrors("the data set has errors; nothing was measured");
    }
}
