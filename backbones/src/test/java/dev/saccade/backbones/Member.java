package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertFalse;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.base.Suppliers;
import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.NoGrad;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A published backbone under test, with two blocks a stage and narrow stages. Its weights are
 * created once and shared by models whose settings do not change them. Weights that start at zero
 * are replaced by random numbers, so that every parameter takes part.
 */
final class Member implements AutoCloseable {

    static final String DROP_PATH = "drop_path_rate=";
    static final String FROZEN = "frozen_stages=";

    private final String name;
    private final Backbone.Config config;
    private final boolean first;
    private final boolean newStructure;
    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final Supplier<Backbone> fresh = Suppliers.memoize(this::initialized);
    private final Supplier<Map<String, NDArray>> weights = Suppliers.memoize(this::moved);

    private Member(String name, Backbone.Config config, boolean first, boolean newStructure) {
        this.name = name;
        this.config = config;
        this.first = first;
        this.newStructure = newStructure;
    }

    /** Returns all members of a family, without stochastic depth. */
    static List<Member> of(Class<? extends Backbone.Config> family) {
        List<Member> members = new ArrayList<>();
        Set<Set<String>> structures = new HashSet<>();
        Configs.<Backbone.Config>variants(family)
                .forEach(
                        (name, published) -> {
                            Backbone.Config config = small(published);
                            Set<String> structure = config.build().namedParameters().keySet();
                            members.add(
                                    new Member(
                                            name,
                                            config,
                                            members.isEmpty(),
                                            structures.add(Set.copyOf(structure))));
                        });
        return members;
    }

    private static Backbone.Config small(Backbone.Config config) {
        return Configs.with(
                config,
                Stream.concat(
                                Stream.of(DROP_PATH + 0, "depths=[2, 2, 2, 2]")
                                        .filter(setting -> has(config, setting)),
                                narrow(config))
                        .toArray(String[]::new));
    }

    /** Returns settings that reduce the width to 8 channels per head; no check depends on it. */
    private static Stream<String> narrow(Backbone.Config config) {
        if (config instanceof ResNet.Config resnet) {
            String width = "base_width=" + (resnet.groups() > 1 ? 2 : resnet.baseWidth());
            return Stream.of("stem_channels=16", "base_channels=16", width);
        }
        if (config instanceof Deit.Config) {
            return Stream.of("embed_dim=24", "depth=2");
        }
        List<Integer> heads = numHeads(config);
        if (has(config, "embed_dims=")) {
            return Stream.of("embed_dims=" + heads.stream().map(count -> 8 * count).toList());
        }
        int first = heads.isEmpty() ? 0 : heads.get(0);
        return Stream.of("embed_dim=" + Math.min(96, 8 * Math.max(3, first)))
                .filter(setting -> has(config, setting));
    }

    private static List<Integer> numHeads(Backbone.Config config) {
        return Configs.unbind((Record) config).get("num_heads").stream()
                .filter(ConfigNode.Sequence.class::isInstance)
                .flatMap(heads -> ((ConfigNode.Sequence) heads).items().stream())
                .map(count -> Integer.valueOf(((ConfigNode.Scalar) count).value().toString()))
                .toList();
    }

    /** Returns whether a config has the key of a setting. */
    static boolean has(Backbone.Config config, String setting) {
        String key = setting.substring(0, setting.indexOf('='));
        return Configs.unbind((Record) config).get(key).isPresent();
    }

    Backbone.Config config() {
        return config;
    }

    /** Returns whether checks that are equal for the whole family run on this member. */
    boolean isFirst() {
        return first;
    }

    /** Returns whether no earlier variant of the family has parameters of the same names. */
    boolean hasNewStructure() {
        return newStructure;
    }

    NDManager manager() {
        return manager;
    }

    /** Returns the backbone initialized with seed 0; do not change it. */
    Backbone fresh() {
        return fresh.get();
    }

    private Backbone initialized() {
        Backbone backbone = config.build();
        backbone.initialize(manager, 0);
        return backbone;
    }

    private Map<String, NDArray> moved() {
        Map<String, NDArray> moved = new LinkedHashMap<>();
        SplittableRandom random = new SplittableRandom(1);
        fresh().namedParameters()
                .forEach((key, parameter) -> moved.put(key, moved(key, parameter, random)));
        return moved;
    }

    private NDArray moved(String key, Parameter parameter, SplittableRandom random) {
        NDArray values = parameter.getArray().stopGradient();
        Shape shape = parameter.getShape();
        if (key.endsWith("running_var")) {
            return WeightInit.uniform(0.5).create(manager, shape, random).add(1);
        }
        return values.any().getBoolean()
                ? values
                : WeightInit.normal(0.1).create(manager, shape, random);
    }

    /** Runs a check on a model with the shared weights, in inference mode. */
    void on(Backbone.Config some, BiConsumer<Backbone, NDManager> check) {
        try (NDManager scratch = manager.newSubManager()) {
            Backbone backbone = some.build();
            backbone.namedParameters()
                    .forEach(
                            (key, parameter) -> {
                                NDArray values = weights.get().get(key).stopGradient();
                                values.attach(scratch);
                                parameter.setInitializer((owner, shape, type) -> values);
                                parameter.initialize(scratch, DataType.FLOAT32);
                            });
            backbone.train(false);
            check.accept(backbone, scratch);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(name + ": " + e.getMessage(), e);
        }
    }

    /** Returns all members of all families. */
    static Stream<Member> all() {
        return Configs.registered(Backbone.Config.class).values().stream()
                .flatMap(family -> of(family).stream());
    }

    static boolean isOutputNorm(String key) {
        return key.matches("norm[0-3]\\..*");
    }

    static NDArray images(NDManager scratch, int count, int height, int width) {
        return WeightInit.normal(1)
                .create(scratch, new Shape(count, 3, height, width), new SplittableRandom(2));
    }

    static NDList infer(Backbone backbone, NDArray images) {
        return new NDList(NoGrad.call(() -> backbone.apply(images)).levels());
    }

    static Map<String, Parameter> learned(Backbone backbone) {
        return backbone.namedParameters().entrySet().stream()
                .filter(e -> !Module.isBuffer(e.getValue()) && e.getValue().requiresGradient())
                .collect(ImmutableMap.toImmutableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    static void assertClose(NDArray expected, NDArray actual) {
        float difference = expected.sub(actual).abs().max().getFloat();
        float scale = expected.abs().max().getFloat();
        assertFalse(difference > 1e-5 * scale, difference + " of " + scale);
    }

    @Override
    public void close() {
        manager.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
