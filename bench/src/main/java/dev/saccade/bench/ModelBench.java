package dev.saccade.bench;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.bench.Timing;
import dev.saccade.core.nn.LayerProfile;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.models.Model;
import dev.saccade.train.RandomBatches;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Times a model on random pixels, alternating between fused and portable operators. */
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
        model =
                config.model()
                        .build(
                                Collections.nCopies(input.classes, "class"),
                                config.data().pixels().channels());
        manager = Libtorch.newManager(Devices.local().choose(config.device()));
        model.initialize(manager, 0);
    }

    /**
     * A batch of random images.
     *
     * @param name model name
     * @param size network input size
     * @param classes number of classes
     * @param quantizedLayers layers that predictions {@linkplain Quantization quantize}
     */
    public record Input(
            String name, int images, Size size, int classes, List<String> quantizedLayers) {

        public Input(String name, int images, Size size, int classes) {
            this(name, images, size, classes, List.of());
        }
    }

    public static ModelTimes prediction(RunConfig config, Input input, Timing.Plan plan) {
        try (ModelBench bench = new ModelBench(config, input)) {
            bench.model.train(false);
            Quantization.apply(bench.model, input.quantizedLayers);
            return bench.measure(
                    "prediction",
                    scratch -> bench.compute(() -> bench.model.predict(bench.images(scratch))),
                    plan,
                    input.quantizedLayers.size(),
                    Optional.empty());
        }
    }

    /**
     * Times each layer of a prediction: the run with the median time.
     *
     * @throws SaccadeException of kind user, if the device is not the CPU
     */
    public static LayerTimes layers(RunConfig config, Input input, Timing.Plan plan) {
        try (ModelBench bench = new ModelBench(config, input)) {
            if (bench.manager.getDevice().isGpu()) {
                throw SaccadeException.user(
                        "device: got %s, but the times of layers are measured on CPUs only; set it"
                                + " to cpu",
                        config.device());
            }
            bench.model.train(false);
            Quantization.apply(bench.model, input.quantizedLayers);
            ImageBatch images = bench.images(bench.manager);
            Runnable predict = () -> bench.compute(() -> bench.model.predict(images));
            predict.run();
            Timing.warmUp(predict, plan.warmUp());
            NavigableMap<Double, List<LayerProfile.Entry>> profiles = new TreeMap<>();
            for (int i = 0; i < plan.runs(); i++) {
                long start = System.nanoTime();
                List<LayerProfile.Entry> profile = LayerProfile.of(predict);
                profiles.put((System.nanoTime() - start) / 1e9, profile);
            }
            double median = List.copyOf(profiles.keySet()).get(profiles.size() / 2);
            return LayerTimes.of(input, median, profiles.get(median));
        }
    }

    /**
     * Times training steps on random targets. Unless {@code mostImages} is 0, also finds the
     * largest batch, trying at most {@code mostImages} images.
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
        ModelEma.Update averages =
                config.ema().map(ema -> ema.build(model).update(0)).orElse(ModelEma.Update.NONE);
        RandomBatches batches =
                new RandomBatches(config.model().head(), input.classes, model.inChannels());
        try (Optimizer optimizer = config.optimizer().build(model);
                Batch batch = batches.of(input.images, input.size)) {
            Consumer<NDManager> step =
                    scratch -> {
                        Gradients gradients =
                                Gradients.compute(
                                        () -> compute(() -> model.losses(batch, scratch)).total(),
                                        optimizer.parameters());
                        float factor = gradients.norms().clipFactor(LARGEST_NORM);
                        optimizer.step(gradients, factor, NO_STEP, averages);
                    };
            return measure("training", step, plan, 0, largest);
        }
    }

    private <T> T compute(Supplier<T> body) {
        return Autocast.call(config.precision(), manager.getDevice(), body);
    }

    private ModelTimes measure(
            String pass,
            Consumer<NDManager> body,
            Timing.Plan plan,
            int quantizedLayers,
            Optional<LargestBatch> largest) {
        Runnable once = () -> run(body);
        HostTransfers transfers =
                HostTransfers.count(
                        () ->
                                DynamicShapes.callWithout(
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
                input.classes,
                Devices.local().describe(manager.getDevice()),
                config.precision(),
                quantizedLayers,
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

    private void run(Consumer<NDManager> body) {
        try (NDManager scratch = manager.newSubManager()) {
            body.accept(scratch);
            Timing.synchronize(scratch);
        }
    }

    private ImageBatch images(NDManager scratch) {
        Shape shape =
                new Shape(
                        input.images, model.inChannels(), input.size.height(), input.size.width());
        List<ImageInfo> infos = Collections.nCopies(input.images, ImageInfo.of(input.size));
        return new ImageBatch(scratch.randomNormal(shape), infos);
    }

    @Override
    public void close() {
        manager.close();
    }
}
