package dev.saccade.cli.bench;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;
import dev.saccade.models.SegmentationModel;
import dev.saccade.train.RandomObjects;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Times a model on random pixels, with fused operators and without by turns. */
public final class ModelBench implements AutoCloseable {

    private static final double NO_STEP = 1e-6;
    private static final double LARGEST_NORM = 10;

    private final RunConfig config;
    private final Model<?> model;
    private final NDManager manager;
    private final Size size;
    private final int images;

    /**
     * Builds a model.
     *
     * @param size of the network input
     * @param images of a batch
     */
    public ModelBench(RunConfig config, Size size, int images, int classes) {
        this.config = config;
        this.size = size;
        this.images = images;
        this.model = config.model().build(Collections.nCopies(classes, "class"));
        manager = Libtorch.newManager(Devices.here().choose(config.device()));
        model.initialize(manager, 0);
    }

    /** Returns what computes. */
    public String device() {
        return Devices.here().describe(manager.getDevice());
    }

    /**
     * What was measured.
     *
     * @param times by what the operators are
     * @param transfers what travels between Java and arrays in one pass or step on a GPU
     */
    public record Result(Map<String, Timing> times, HostTransfers transfers) {}

    /** Times predictions. */
    public Result predict(Timing.Plan plan) {
        model.train(false);
        return measure(batch -> compute(() -> model.predict(batch)), plan);
    }

    /** Times steps: losses on random targets, gradients, clipping, the optimizer and averages. */
    public Result train(Timing.Plan plan) {
        model.train(true);
        Function<ImageBatch, Losses> losses = losses();
        ModelEma.Update averages =
                config.ema().map(ema -> ema.build(model).update(0)).orElse(ModelEma.Update.NONE);
        try (Optimizer optimizer = config.optimizer().build(model)) {
            return measure(
                    batch -> {
                        Gradients gradients =
                                Gradients.compute(
                                        () -> compute(() -> losses.apply(batch)).total(),
                                        optimizer.parameters());
                        float factor = gradients.norms().clipping(LARGEST_NORM);
                        optimizer.step(gradients, factor, NO_STEP, averages);
                    },
                    plan);
        }
    }

    private <T> T compute(Supplier<T> body) {
        return Autocast.call(config.precision(), manager.getDevice(), body);
    }

    private Result measure(Consumer<ImageBatch> body, Timing.Plan plan) {
        Runnable once =
                () -> {
                    try (NDManager scratch = manager.newSubManager()) {
                        NDArray pixels =
                                scratch.randomNormal(
                                        new Shape(images, 3, size.height(), size.width()));
                        List<ImageInfo> infos = Collections.nCopies(images, ImageInfo.of(size));
                        body.accept(new ImageBatch(pixels, infos));
                        // A GPU that has answered has done all that it was told before.
                        scratch.zeros(new Shape(1)).toFloatArray();
                    }
                };
        HostTransfers transfers =
                HostTransfers.during(
                        () ->
                                DynamicShapes.avoidedBy(
                                        () -> {
                                            once.run();
                                            return once;
                                        }));
        return new Result(Timing.measure(once, plan), transfers);
    }

    private Function<ImageBatch, Losses> losses() {
        return model.match(this::losses, this::losses);
    }

    private Function<ImageBatch, Losses> losses(DetectionModel detector) {
        RandomObjects objects = new RandomObjects(size, model.classes().size());
        List<Instances> targets = IntStream.range(0, images).mapToObj(objects::of).toList();
        int semanticClasses = detector.config().head().semanticClasses();
        if (semanticClasses == 0) {
            return batch -> detector.losses(batch, targets);
        }
        NDArray map = labels(semanticClasses);
        return batch -> detector.losses(batch, targets, map);
    }

    private Function<ImageBatch, Losses> losses(SegmentationModel segmenter) {
        NDArray map = labels(model.classes().size());
        return batch -> segmenter.losses(batch, map);
    }

    private NDArray labels(int classes) {
        long[] labels = SeededRandom.of(0).longs(images * size.area(), 0, classes).toArray();
        return manager.create(labels, new Shape(images, size.height(), size.width()));
    }

    @Override
    public void close() {
        manager.close();
    }
}
