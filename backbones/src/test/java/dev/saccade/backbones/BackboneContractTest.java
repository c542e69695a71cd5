package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Sets;

import dev.saccade.config.Configs;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.FeaturePyramid;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Checks every variant of every family of backbones, with two blocks a stage. Slow checks skip
 * variants whose parameters have the same names as those of an earlier variant.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("members")
class BackboneContractTest {

    /** Families that leave out what is over where a side is no multiple of the stride. */
    private static final Set<String> ROUND_DOWN = Set.of("pvt");

    /** Families that use the statistics of the batch in training. */
    private static final Set<String> NORMALIZE_OVER_BATCHES = Set.of("dwnet", "linglo");

    private static final String FROZEN = "frozen_stages=";
    private static final String RECOMPUTE = "activation_checkpointing=";

    private final Member member;
    private final Backbone.Config config;

    BackboneContractTest(Member member) {
        this.member = member;
        config = member.config();
    }

    static Stream<Member> members() {
        return Configs.known(Backbone.Config.class).values().stream()
                .flatMap(family -> Member.of(family).stream());
    }

    @ParameterizedTest
    @CsvSource({"97, 131", "33, 35"})
    void givesWhatFeaturesPromiseForAnySize(int height, int width) {
        member.on(
                config,
                (backbone, scratch) -> {
                    NDList levels = infer(backbone, images(scratch, 1, height, width));
                    assertEquals(backbone.features().size(), levels.size());
                    for (int i = 0; i < levels.size(); i++) {
                        FeatureInfo info = backbone.features().get(i);
                        long h = cells(height, info.stride());
                        long w = cells(width, info.stride());
                        assertEquals(new Shape(1, info.channels(), h, w), levels.get(i).getShape());
                        assertTrue(Float.isFinite(levels.get(i).sum().getFloat()));
                    }
                });
    }

    private long cells(int side, int stride) {
        return ROUND_DOWN.contains(config.type()) ? side / stride : -Math.floorDiv(-side, stride);
    }

    @Test
    void imagesOfABatchDoNotMix() {
        assumeTrue(member.hasNewStructure());
        member.on(
                config,
                (backbone, scratch) -> {
                    NDArray images = images(scratch, 2, 40, 56);
                    NDList both = infer(backbone, images);
                    for (int n = 0; n < 2; n++) {
                        String image = n + ":" + (n + 1);
                        NDList alone = infer(backbone, images.get(image));
                        for (int i = 0; i < alone.size(); i++) {
                            assertClose(alone.get(i), both.get(i).get(image));
                        }
                    }
                });
    }

    @Test
    void everyParameterLearns() {
        assumeTrue(member.hasNewStructure());
        member.on(
                config,
                (backbone, scratch) -> {
                    backbone.train(true);
                    NDArray images = images(scratch, 2, 33, 67);
                    assertEquals(
                            learned(backbone).keySet(), learning(backbone, images, 0, 1, 2, 3));
                });
    }

    @Test
    void recomputedBlocksGiveTheSameGradients() {
        assumeTrue(member.isFirst() && has(RECOMPUTE));
        List<NDArray> kept = new ArrayList<>();
        for (boolean recompute : new boolean[] {false, true}) {
            member.on(
                    Configs.with(config, RECOMPUTE + recompute, Member.DROP_PATH + 0.5),
                    (backbone, scratch) -> {
                        backbone.train(true);
                        NDArray images = images(scratch, 2, 33, 35);
                        NDList gradients = gradients(backbone, images, 0, 1, 2, 3);
                        if (!recompute) {
                            gradients.attach(member.manager());
                            kept.addAll(gradients);
                            return;
                        }
                        for (int i = 0; i < kept.size(); i++) {
                            assertClose(kept.get(i), gradients.get(i));
                        }
                    });
        }
    }

    @Test
    void frozenStagesAloneDoNotLearn() {
        assumeTrue(member.hasNewStructure());
        Set<String> learned = learned(member.fresh()).keySet();
        for (int stages = 0; stages <= 4; stages++) {
            Backbone backbone = Configs.with(config, FROZEN + stages).build();
            Set<String> fewer = learned(backbone).keySet();
            assertTrue(learned.containsAll(fewer) && learned.size() > fewer.size());
            learned = fewer;
        }
        assertTrue(learned.stream().allMatch(BackboneContractTest::isOutputNorm));

        Set<String> firstTwo = new TreeSet<>();
        member.on(
                config,
                (backbone, scratch) ->
                        firstTwo.addAll(learning(backbone, images(scratch, 2, 32, 64), 1)));
        firstTwo.removeIf(BackboneContractTest::isOutputNorm);
        member.on(
                Configs.with(config, FROZEN + 2),
                (backbone, scratch) -> {
                    backbone.train(true);
                    Set<String> rest = learned(backbone).keySet();
                    assertEquals(Set.of(), Sets.intersection(rest, firstTwo));
                    NDArray images = images(scratch, 2, 32, 64);
                    assertEquals(rest, learning(backbone, images, 0, 1, 2, 3));
                });
    }

    @Test
    void layersAreNumberedFromTheStemOnWithoutGaps() {
        Backbone backbone = member.fresh();
        Map<String, Integer> layers = backbone.layers();
        int last = Collections.max(layers.values());
        assertEquals(
                IntStream.rangeClosed(0, last).boxed().collect(Collectors.toSet()),
                Set.copyOf(layers.values()));
        assertTrue(
                Sets.difference(backbone.namedParameters().keySet(), layers.keySet()).stream()
                        .allMatch(BackboneContractTest::isOutputNorm));
        Set<String> behindTheStem = learned(Configs.with(config, FROZEN + 0).build()).keySet();
        for (String name : learned(backbone).keySet()) {
            assertEquals(layers.getOrDefault(name, last) > 0, behindTheStem.contains(name), name);
        }
    }

    private boolean has(String setting) {
        return Member.has(config, setting);
    }

    private static boolean isOutputNorm(String key) {
        return key.matches("norm[0-3]\\..*");
    }

    @Test
    void trainingDiffersByStochasticDepthAlone() {
        assumeTrue(member.hasNewStructure());
        NDArray images = images(member.manager(), 2, 33, 35);
        NDList still = new NDList();
        member.on(
                config,
                (backbone, scratch) -> {
                    still.addAll(infer(backbone, images));
                    backbone.train(true);
                    if (!NORMALIZE_OVER_BATCHES.contains(config.type())) {
                        assertEquals(still, infer(backbone, images));
                    }
                });
        member.on(
                has(Member.DROP_PATH) ? Configs.with(config, Member.DROP_PATH + 0.9) : config,
                (backbone, scratch) -> {
                    backbone.train(true);
                    NDArray moving = infer(backbone, images).get(3);
                    assertEquals(
                            has(Member.DROP_PATH),
                            moving.sub(still.get(3)).abs().max().getFloat() > 1e-3);
                });
    }

    @Test
    void fusedItSaysTheSameUntilItIsTrained() {
        assumeTrue(member.hasNewStructure());
        member.on(
                config,
                (backbone, scratch) -> {
                    NDArray images = images(scratch, 1, 33, 35);
                    NDList before = infer(backbone, images);
                    backbone.fuse();
                    NDList fused = infer(backbone, images);
                    for (int i = 0; i < before.size(); i++) {
                        assertClose(before.get(i), fused.get(i));
                    }
                    backbone.train(true);
                    backbone.train(false);
                    assertEquals(before, infer(backbone, images));
                });
    }

    @Test
    void startsAsPublished() {
        Map<String, Parameter> all = member.fresh().namedParameters();
        all.forEach(
                (key, parameter) ->
                        FirstValues.expected(config.type(), key, all)
                                .check(member + ": " + key, parameter));
    }

    @Test
    void startsTheSameForTheSameSeedAlone() {
        assumeTrue(member.isFirst());
        try (NDManager scratch = member.manager().newSubManager()) {
            Backbone same = config.build();
            same.initialize(scratch, 0);
            Backbone other = config.build();
            other.initialize(scratch, 1);
            member.fresh()
                    .namedParameters()
                    .forEach(
                            (key, parameter) -> {
                                NDArray values = parameter.getArray();
                                assertEquals(values, same.namedParameters().get(key).getArray());
                                boolean constant =
                                        values.max().getFloat() == values.min().getFloat();
                                assertEquals(
                                        constant,
                                        values.equals(other.namedParameters().get(key).getArray()),
                                        key);
                            });
        }
    }

    private static NDArray images(NDManager scratch, int count, int height, int width) {
        return WeightInit.normal(1)
                .create(scratch, new Shape(count, 3, height, width), new SplittableRandom(2));
    }

    private static NDList infer(Backbone backbone, NDArray images) {
        return new NDList(NoGrad.call(() -> backbone.apply(images)).levels());
    }

    private static Map<String, Parameter> learned(Backbone backbone) {
        return backbone.namedParameters().entrySet().stream()
                .filter(e -> !Module.isBuffer(e.getValue()) && e.getValue().requiresGradient())
                .collect(ImmutableMap.toImmutableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** Returns the gradients of all learned parameters, empty where the levels need none. */
    private static NDList gradients(Backbone backbone, NDArray images, int... levels) {
        return SampleRandom.during(
                0,
                0,
                new long[] {0, 1},
                () ->
                        Autograd.gradients(
                                () -> combined(backbone.apply(images), levels),
                                learned(backbone).values().stream()
                                        .map(Parameter::getArray)
                                        .toList()));
    }

    /** Returns a random combination of all values of some levels. */
    private static NDArray combined(FeaturePyramid features, int... levels) {
        SplittableRandom random = new SplittableRandom(3);
        NDList sums = new NDList();
        for (int level : levels) {
            NDArray map = features.get(level);
            NDArray weights = WeightInit.normal(1).create(map.getManager(), map.getShape(), random);
            sums.add(map.mul(weights).sum());
        }
        return NDArrays.stack(sums).sum();
    }

    /** Returns the parameters by which some levels have a gradient. */
    private static Set<String> learning(Backbone backbone, NDArray images, int... levels) {
        Iterator<NDArray> gradients = gradients(backbone, images, levels).iterator();
        return learned(backbone).keySet().stream()
                .filter(key -> isSome(gradients.next()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isSome(NDArray gradient) {
        float norm = gradient.isEmpty() ? 0 : gradient.norm().getFloat();
        return norm > 0 && Float.isFinite(norm);
    }

    private static void assertClose(NDArray expected, NDArray actual) {
        float difference = expected.sub(actual).abs().max().getFloat();
        float scale = expected.abs().max().getFloat();
        assertFalse(difference > 1e-5 * scale, difference + " of " + scale);
    }
}
