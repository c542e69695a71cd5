package dev.saccade.backbones;

import static dev.saccade.backbones.Member.assertClose;
import static dev.saccade.backbones.Member.images;
import static dev.saccade.backbones.Member.infer;
import static dev.saccade.backbones.Member.learned;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.Sets;

import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.FeatureInfo;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Checks every variant of every family of backbones. Slow checks skip variants whose parameters
 * have the same names as the parameters of an earlier variant.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.saccade.backbones.Member#all")
class BackboneContractTest {

    /** Families that crop sizes that are not multiples of the stride. */
    private static final Set<String> ROUND_DOWN = Set.of("pvt");

    private final Member member;
    private final Backbone.Config config;

    BackboneContractTest(Member member) {
        this.member = member;
        config = member.config();
    }

    @ParameterizedTest
    @CsvSource({"97, 131", "33, 35"})
    void outputMatchesFeaturesForAnySize(int rows, int columns) {
        boolean isToken = config instanceof Deit.Config deit && deit.clsToken();
        int height = rows;
        int width = needsSquare() ? rows : columns;
        member.on(
                config,
                (backbone, scratch) -> {
                    NDList levels = infer(backbone, images(scratch, 1, height, width));
                    assertEquals(backbone.features().size(), levels.size());
                    for (int i = 0; i < levels.size(); i++) {
                        FeatureInfo info = backbone.features().get(i);
                        long h = isToken ? 1 : cells(height, info.stride());
                        long w = isToken ? 1 : cells(width, info.stride());
                        assertEquals(new Shape(1, info.channels(), h, w), levels.get(i).getShape());
                        assertTrue(Float.isFinite(levels.get(i).sum().getFloat()));
                    }
                });
    }

    private boolean needsSquare() {
        return config instanceof Deit.Config deit && deit.needsSquare();
    }

    private long cells(int side, int stride) {
        return ROUND_DOWN.contains(config.type()) ? side / stride : -Math.floorDiv(-side, stride);
    }

    @Test
    void imagesOfABatchAreIndependent() {
        assumeTrue(member.hasNewStructure());
        member.on(
                config,
                (backbone, scratch) -> {
                    NDArray images = images(scratch, 2, 40, needsSquare() ? 40 : 56);
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
    void layersAreNumberedFromTheStemWithoutGaps() {
        Backbone backbone = member.fresh();
        Map<String, Integer> layers = backbone.layers();
        int last = Collections.max(layers.values());
        assertEquals(
                IntStream.rangeClosed(0, last).boxed().collect(Collectors.toSet()),
                Set.copyOf(layers.values()));
        assertTrue(
                Sets.difference(backbone.namedParameters().keySet(), layers.keySet()).stream()
                        .allMatch(Member::isOutputNorm));
        Set<String> behindTheStem =
                learned(Configs.with(config, Member.FROZEN + 0).build()).keySet();
        for (String name : learned(backbone).keySet()) {
            assertEquals(layers.getOrDefault(name, last) > 0, behindTheStem.contains(name), name);
        }
    }

    @Test
    void fusingDoesNotChangeTheOutputUntilTraining() {
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
    void initializesAsPublished() {
        Map<String, Parameter> all = member.fresh().namedParameters();
        all.forEach(
                (key, parameter) ->
                        FirstValues.expected(config.type(), key, all)
                                .check(member + ": " + key, parameter));
    }

    @Test
    void initializationDependsOnTheSeedOnly() {
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
}
