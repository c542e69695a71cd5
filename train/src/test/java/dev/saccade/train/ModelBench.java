package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.parts.Targets;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Detector;
import dev.saccade.models.Model;
import dev.saccade.models.Segmenter;
import dev.saccade.models.config.ConfigBinder;
import dev.saccade.models.config.ConfigFile;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.logs.MemoryUse;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Times a model on random pixels, to be held beside a peer in the same minute: {@code ModelBench
 * train|predict CONFIG HEIGHT WIDTH BATCH CLASSES ITERATIONS}. No test.
 */
final class ModelBench {

    private static final Logger log = LoggerFactory.getLogger(ModelBench.class);
    private static final int OBJECTS = 20;
    private static final int WARM_UP = 2;
    private static final double NO_STEP = 1e-6;

    private final RunConfig config;
    private final Model model;
    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final Size size;
    private final int images;

    private ModelBench(RunConfig config, Size size, int images, int classes) {
        this.config = config;
        this.size = size;
        this.images = images;
        this.model = config.model().build(Collections.nCopies(classes, "class"));
        model.initialize(manager, 0);
    }

    /** Measures one of the two in a process of its own, so that the peak of memory is its own. */
    public static void main(String[] args) {
        RunConfig config =
                ConfigBinder.bind(ConfigFile.load(Path.of(args[1]), List.of()), RunConfig.class);
        Size size = new Size(Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        int images = Integer.parseInt(args[4]);
        ModelBench bench = new ModelBench(config, size, images, Integer.parseInt(args[5]));
        int iterations = Integer.parseInt(args[6]);
        double[] seconds =
                args[0].equals("train") ? bench.train(iterations) : bench.predict(iterations);
        Arrays.sort(seconds);
        log.info(
                "{} {} size={} images={} median={} s least={} s peak={} MiB",
                args[0],
                args[1],
                size,
                images,
                seconds[seconds.length / 2],
                seconds[0],
                MemoryUse.peakBytes() >> 20);
    }

    private double[] train(int iterations) {
        List<ImageInfo> infos = Collections.nCopies(images, ImageInfo.of(size));
        Function<ImageBatch, Losses> losses = losses();
        try (Optimizer optimizer = config.optimizer().build(model)) {
            return time(
                    iterations,
                    batch -> {
                        Gradients gradients =
                                Gradients.of(
                                        () -> losses.apply(batch).total(), optimizer.parameters());
                        float norm = gradients.norms().total();
                        optimizer.step(gradients.clipped(norm, 10), NO_STEP);
                    },
                    infos);
        }
    }

    private Function<ImageBatch, Losses> losses() {
        if (model instanceof Detector detector) {
            List<Instances> targets = IntStream.range(0, images).mapToObj(this::objects).toList();
            return batch -> detector.losses(batch, targets);
        }
        long[] labels =
                SeededRandom.of(0).longs(images * size.area(), 0, model.classes().size()).toArray();
        NDArray map = manager.create(labels, new Shape(images, size.height(), size.width()));
        return batch -> ((Segmenter) model).losses(batch, map);
    }

    private Instances objects(int image) {
        SplittableRandom random = SeededRandom.of(0, image);
        float[] boxes = new float[4 * OBJECTS];
        int[] labels = new int[OBJECTS];
        for (int i = 0; i < OBJECTS; i++) {
            boxes[4 * i] = (float) (random.nextDouble() * 0.8 * size.width());
            boxes[4 * i + 1] = (float) (random.nextDouble() * 0.8 * size.height());
            boxes[4 * i + 2] =
                    boxes[4 * i] + 8 + (float) (random.nextDouble() * 0.2 * size.width());
            boxes[4 * i + 3] =
                    boxes[4 * i + 1] + 8 + (float) (random.nextDouble() * 0.2 * size.height());
            labels[i] = random.nextInt(model.classes().size());
        }
        Instances objects = Instances.groundTruth(Boxes.of(boxes), labels);
        return config.model().head().targets() == Targets.MASKS
                ? objects.withMasks(masks(boxes))
                : objects;
    }

    private List<Rle> masks(float[] boxes) {
        return IntStream.range(0, OBJECTS)
                .mapToObj(
                        i ->
                                Rle.fromBox(
                                        size,
                                        boxes[4 * i],
                                        boxes[4 * i + 1],
                                        boxes[4 * i + 2] - boxes[4 * i],
                                        boxes[4 * i + 3] - boxes[4 * i + 1]))
                .toList();
    }

    private double[] predict(int iterations) {
        model.train(false);
        return time(iterations, model::predict, Collections.nCopies(images, ImageInfo.of(size)));
    }

    private double[] time(int iterations, Consumer<ImageBatch> body, List<ImageInfo> infos) {
        double[] seconds = new double[iterations];
        for (int i = -WARM_UP; i < iterations; i++) {
            try (NDManager scratch = manager.newSubManager()) {
                NDArray pixels =
                        scratch.randomNormal(new Shape(images, 3, size.height(), size.width()));
                long start = System.nanoTime();
                body.accept(new ImageBatch(pixels, infos));
                if (i >= 0) {
                    seconds[i] = (System.nanoTime() - start) / 1e9;
                }
            }
        }
        return seconds;
    }
}
