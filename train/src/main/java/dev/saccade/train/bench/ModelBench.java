package dev.saccade.train.bench;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.bench.Timing;
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
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Times a model on random pixels, with fused and portable operators in turn. */
public final class ModelBench implements AutoCloseable {

    private static final double NO_STEP = 1e-6;
    private static final double LARGEST_NORM = 10;

    private final RunConfig config;
    private final Input input;
    private final Model<?> model;
    private final NDManager manager;

    private ModelBench(RunConfig config, Input input) {
        this.config = config;
        this.input = input;
        model = config.model().build(Collections.nCopies(input.classes, "class"));
        manager = Libtorch.newManager(Devices.here().choose(config.device()));
        model.initialize(manager, 0);
    }

    /**
     * A batch of random images.
     *
     * @param name name of the model for reports
     * @param images number of images
     * @param size height and width of the network input
     */
    public record Input(String name, int images, Size size, int classes) {}

    /** Times predictions. */
    public static ModelTimes prediction(RunConfig config, Input input, Timing.Plan plan) {
        try (ModelBench bench = new ModelBench(config, input)) {
            bench.model.train(false);
            return bench.measure(
                    "prediction",
                    batch -> bench.compute(() -> bench.model.predict(batch)),
                    plan,
                    Optional.empty());
        }
    }

    /**
     * Times training steps on random targets, and finds the largest batch.
     *
     * @param mostImages largest batch to try; 0 skips the search
     */
    public static ModelTimes training(
            RunConfig config, Input input, Timing.Plan plan, int mostImages) {
        Optional<LargestBatch> largest =
                mostImages == 0
                        ? Optional.empty()
                        : LargestBatch.find(config, input.size, input.classes, mostImages);
        try (ModelBench bench = new ModelBench(config, input)) {
            return bench.train(plan, largest);
        }
    }

    private ModelTimes train(Timing.Plan plan, Optional<LargestBatch> largest) {
        model.train(true);
        Function<ImageBatch, Losses> losses = model.match(this::losses, this::losses);
        ModelEma.Update averages =
                config.ema().map(ema -> ema.build(model).update(0)).orElse(ModelEma.Update.NONE);
        try (Optimizer optimizer = config.optimizer().build(model)) {
            Consumer<ImageBatch> step =
                    batch -> {
                        Gradients gradients =
                                Gradients.compute(
                                        () -> compute(() -> losses.apply(batch)).total(),
                                        optimizer.parameters());
                        float factor = gradients.norms().clipping(LARGEST_NORM);
                        optimizer.step(gradients, factor, NO_STEP, averages);
                    };
            return measure("training", step, plan, largest);
        }
    }

    private <T> T compute(Supplier<T> body) {
        return Autocast.call(config.precision(), manager.getDevice(), body);
    }

    private ModelTimes measure(
            String pass,
            Consumer<ImageBatch> body,
            Timing.Plan plan,
            Optional<LargestBatch> largest) {
        Runnable once = () -> run(body);
        HostTransfers transfers =
                HostTransfers.during(
                        () ->
                                DynamicShapes.avoidedBy(
                                        () -> {
                                            once.run();
                                            return once;
                                        }));
        Map<String, Timing> times = Timing.measure(once, plan);
        return new ModelTimes(
                input.name,
                pass,
                input.images,
                input.size.toString(),
                Devices.here().describe(manager.getDevice()),
                config.precision(),
                times,
                sum(transfers.reads()),
                sum(transfers.writes()),
                transfers.reads(),
                transfers.writes(),
                DeviceMemory.peakResidentBytes() >> 20,
                largest.orElse(null));
    }

    private static int sum(Map<String, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    private void run(Consumer<ImageBatch> body) {
        try (NDManager scratch = manager.newSubManager()) {
            NDArray pixels =
                    scratch.randomNormal(
                            new Shape(input.images, 3, input.size.height(), input.size.width()));
            List<ImageInfo> infos = Collections.nCopies(input.images, ImageInfo.of(input.size));
            body.accept(new ImageBatch(pixels, infos));
            Timing.synchronize(scratch);
        }
    }

    private Function<ImageBatch, Losses> losses(DetectionModel detector) {
        RandomObjects objects = new RandomObjects(input.size, model.classes().size());
        List<Instances> targets = IntStream.range(0, input.images).mapToObj(objects::of).toList();
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
        long[] labels =
                SeededRandom.of(0).longs(input.images * input.size.area(), 0, classes).toArray();
        return manager.create(
                labels, new Shape(input.images, input.size.height(), input.size.width()));
    }

    @Override
    public void close() {
        manager.close();
    }
}
