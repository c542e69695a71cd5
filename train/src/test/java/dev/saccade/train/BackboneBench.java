package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Gradients;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Times the backbone of a config on random pixels, to be held beside a peer in the same minute:
 * {@code BackboneBench forward|train CONFIG BATCH HEIGHT WIDTH ITERATIONS [KEY=VALUE ...]}. No
 * test.
 *
 * <p>{@code forward} is the features of all stages without recording; {@code train} adds the
 * gradients of the sum of all levels' means by every parameter.
 */
final class BackboneBench {

    private static final Logger log = LoggerFactory.getLogger(BackboneBench.class);
    private static final double MAX_SECONDS = 60;

    private final Backbone backbone;
    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final Map<String, Parameter> parameters;

    private BackboneBench(Backbone backbone) {
        this.backbone = backbone;
        backbone.initialize(manager, 0);
        parameters = Gradients.trainable(backbone);
    }

    /** Measures in a process of its own, so that the peak of memory is its own. */
    public static void main(String[] args) {
        List<String> overrides = List.of(args).subList(6, args.length);
        RunConfig config =
                Configs.bind(ConfigFile.load(Path.of(args[1]), overrides), RunConfig.class);
        BackboneBench bench = new BackboneBench(config.model().backbone().build());
        boolean train = args[0].equals("train");
        bench.backbone.train(train);
        if (!train) {
            bench.backbone.fuse();
        }
        Shape images =
                new Shape(
                        Long.parseLong(args[2]),
                        3,
                        Long.parseLong(args[3]),
                        Long.parseLong(args[4]));
        double[] seconds = bench.time(images, Integer.parseInt(args[5]), train);
        log.info(
                "RESULT {\"seconds\": {}, \"min\": {}, \"runs\": {}, \"peak_mib\": {},"
                        + " \"parameters\": {}}",
                seconds[seconds.length / 2],
                seconds[0],
                seconds.length,
                DeviceMemory.peakResidentBytes() >> 20,
                bench.size());
    }

    private long size() {
        return backbone.namedParameters().values().stream()
                .filter(parameter -> !Module.isBuffer(parameter))
                .mapToLong(parameter -> parameter.getShape().size())
                .sum();
    }

    private double[] time(Shape images, int iterations, boolean train) {
        double[] seconds = new double[iterations];
        double sum = 0;
        int runs = 0;
        for (int i = -1; i < iterations && (runs == 0 || sum < MAX_SECONDS); i++) {
            try (NDManager scratch = manager.newSubManager()) {
                NDArray pixels = scratch.randomNormal(images);
                long start = System.nanoTime();
                NDArray x = MemoryFormat.channelsLast(pixels);
                if (train) {
                    Gradients.compute(() -> loss(x), parameters);
                } else {
                    NoGrad.call(() -> backbone.apply(x));
                }
                if (i >= 0) {
                    seconds[runs++] = (System.nanoTime() - start) / 1e9;
                    sum += seconds[runs - 1];
                }
            }
        }
        return Arrays.stream(seconds, 0, runs).sorted().toArray();
    }

    private NDArray loss(NDArray x) {
        FeaturePyramid features = backbone.apply(x);
        return features.levels().stream().map(NDArray::mean).reduce(NDArray::add).orElseThrow();
    }
}
