package dev.saccade.eval;

import com.google.common.math.LongMath;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.Workers;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.models.TrainedModel;

import java.math.RoundingMode;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Runs models on a data set for an {@link Evaluator}, with background loading and evaluation. A
 * single process on the CPU predicts several images at the same time. With several ranks, images
 * are split among ranks. In both cases, the metrics are exactly those of predicting one image at a
 * time.
 */
public final class DatasetInference {

    private static final byte[] WHOLE = {};
    private static final byte[] INTERRUPTED = {1};

    private final Dataset dataset;
    private final int workers;
    private final ProcessGroup ranks;

    /** Prepares inference in one process, with {@code workers} threads to load and to evaluate. */
    public DatasetInference(Dataset dataset, int workers) {
        this(dataset, workers, ProcessGroup.alone());
    }

    /** Prepares inference on one rank, with {@code workers} threads to load and to evaluate. */
    public DatasetInference(Dataset dataset, int workers, ProcessGroup ranks) {
        this.dataset = dataset;
        this.workers = workers;
        this.ranks = ranks;
    }

    /** Returns the number of images that this rank processes. */
    public int size() {
        return first(ranks.rank() + 1) - first(ranks.rank());
    }

    private int first(int rank) {
        return Math.toIntExact(
                LongMath.divide(
                        (long) dataset.size() * rank, ranks.worldSize(), RoundingMode.CEILING));
    }

    /** Runs a trained model; {@code progress} receives the number of images predicted so far. */
    public <P> void run(TrainedModel<P> model, Evaluator<P> evaluator, IntConsumer progress) {
        requireClasses(model);
        if (ranks.worldSize() > 1 || model.device().isGpu()) {
            run(model.reader(), model::predict, evaluator, progress);
        } else {
            evaluator.reset();
            runStreams(model, evaluator, progress);
        }
    }

    /** Predicts and evaluates an image per {@linkplain TrainedModel#streams stream}. */
    private <P> void runStreams(
            TrainedModel<P> model, Evaluator<P> evaluator, IntConsumer progress) {
        AtomicInteger done = new AtomicInteger();
        try (DataLoader<InferenceInput> loader = loader(model.reader());
                DataLoader<InferenceInput>.Epoch images = loader.epoch(0);
                Workers streams = new Workers("saccade-eval", model.streams())) {
            for (int i = 0; i < size(); i++) {
                int index = i;
                InferenceInput image = images.next();
                streams.start(
                        () -> {
                            evaluator.process(index, predict(model::predict, image));
                            done.incrementAndGet();
                        });
                progress.accept(done.get());
            }
            streams.finish();
            progress.accept(done.get());
        }
    }

    private DataLoader<InferenceInput> loader(InferenceReader reader) {
        int first = first(ranks.rank());
        return DataLoader.testing(dataset, IntStream.range(first, first + size()), reader, workers);
    }

    /**
     * Runs a model whose predictions are in pixels of the original image.
     *
     * @param evaluator receives the predictions; on rank 0, also the predictions of other ranks
     * @param progress receives the number of images predicted on this rank after each image
     * @throws TaskCancelledException if {@code progress} throws it on any rank
     */
    public <P> void run(
            InferenceReader reader,
            Function<InferenceInput, P> model,
            Evaluator<P> evaluator,
            IntConsumer progress) {
        evaluator.reset();
        try {
            runShard(reader, model, evaluator, progress);
        } catch (TaskCancelledException e) {
            ranks.allGather(INTERRUPTED);
            throw e;
        }
        if (ranks.allGather(WHOLE).stream().anyMatch(told -> told.length > 0)) {
            throw new TaskCancelledException();
        }
        merge(evaluator);
    }

    private <P> void runShard(
            InferenceReader reader,
            Function<InferenceInput, P> model,
            Evaluator<P> evaluator,
            IntConsumer progress) {
        int first = first(ranks.rank());
        try (DataLoader<InferenceInput> loader = loader(reader);
                DataLoader<InferenceInput>.Epoch images = loader.epoch(0);
                Workers evaluationWorkers = new Workers("saccade-eval", workers)) {
            for (int i = 0; i < size(); i++) {
                int index = first + i;
                P predicted = predict(model, images.next());
                evaluationWorkers.start(() -> evaluator.process(index, predicted));
                progress.accept(i + 1);
            }
            evaluationWorkers.finish();
        }
    }

    private void merge(Evaluator<?> evaluator) {
        for (int rank = 1; rank < ranks.worldSize(); rank++) {
            byte[] own = rank == ranks.rank() ? evaluator.state() : new byte[0];
            byte[] received = ranks.broadcast(own, rank);
            if (ranks.rank() == 0) {
                evaluator.mergeState(received);
            }
        }
    }

    private static <P> P predict(Function<InferenceInput, P> model, InferenceInput image) {
        try (image) {
            return model.apply(image);
        }
    }

    private void requireClasses(TrainedModel<?> model) {
        if (!model.classes().equals(dataset.classes())) {
            throw SaccadeException.user(
                    "classes differ: the data set has %s, the model was trained on %s; use the"
                            + " data set the model was trained for",
                    dataset.classes(), model.classes());
        }
    }

    /** Throws if the data set has errors or other classes than the model. Decodes label maps. */
    public void requireNoErrors(TrainedModel<?> model) {
        requireClasses(model);
        CheckOptions options =
                new CheckOptions(false, model.spec().model().head(), workers, () -> {});
        DatasetCheck.run(dataset, options.forEvaluation())
                .requireNoErrors("the data set has errors; evaluation did not start");
    }
}
