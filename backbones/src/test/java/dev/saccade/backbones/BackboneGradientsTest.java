package dev.saccade.backbones;

import static dev.saccade.backbones.Member.assertClose;
import static dev.saccade.backbones.Member.images;
import static dev.saccade.backbones.Member.infer;
import static dev.saccade.backbones.Member.learned;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Parameter;

import com.google.common.collect.Sets;

import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.structures.FeaturePyramid;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Checks what the variants of every family of backbones train. Skips variants whose parameters have
 * the same names as the parameters of an earlier variant.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("members")
class BackboneGradientsTest {

    /** Families that use batch statistics in training. */
    private static final Set<String> NORMALIZE_OVER_BATCHES = Set.of("dwnet", "linglo");

    private static final String RECOMPUTE = "activation_checkpointing=";

    private final Member member;
    private final Backbone.Config config;

    BackboneGradientsTest(Member member) {
        this.member = member;
        config = member.config();
    }

    static Stream<Member> members() {
        return Member.all().filter(Member::hasNewStructure);
    }

    @Test
    void everyParameterGetsAGradient() {
        member.on(
                config,
                (backbone, scratch) -> {
                    backbone.train(true);
                    NDArray images = images(scratch, 2, 33, needsSquare() ? 33 : 67);
                    Set<String> expected = new TreeSet<>(learned(backbone).keySet());
                    if (needsSquare()) {
                        // The class token, the only output, has no position bias.
                        expected.remove("blocks.1.attn.relative_position_bias_table");
                    }
                    assertEquals(expected, learning(backbone, images, all(backbone)));
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
                        NDList gradients = gradients(backbone, images, all(backbone));
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
    void onlyFrozenStagesHaveNoGradient() {
        assumeTrue(!(config instanceof Deit.Config), "has no stages");
        Set<String> learned = learned(member.fresh()).keySet();
        for (int stages = 0; stages <= 4; stages++) {
            Backbone backbone = Configs.with(config, Member.FROZEN + stages).build();
            Set<String> fewer = learned(backbone).keySet();
            assertTrue(learned.containsAll(fewer) && learned.size() > fewer.size());
            learned = fewer;
        }
        assertTrue(learned.stream().allMatch(Member::isOutputNorm));

        Set<String> firstTwo = new TreeSet<>();
        member.on(
                config,
                (backbone, scratch) ->
                        firstTwo.addAll(learning(backbone, images(scratch, 2, 32, 64), 1)));
        firstTwo.removeIf(Member::isOutputNorm);
        member.on(
                Configs.with(config, Member.FROZEN + 2),
                (backbone, scratch) -> {
                    backbone.train(true);
                    Set<String> rest = learned(backbone).keySet();
                    assertEquals(Set.of(), Sets.intersection(rest, firstTwo));
                    NDArray images = images(scratch, 2, 32, 64);
                    assertEquals(rest, learning(backbone, images, all(backbone)));
                });
    }

    @Test
    void trainingDiffersOnlyByStochasticDepth() {
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
                    int last = still.size() - 1;
                    NDArray moving = infer(backbone, images).get(last);
                    assertEquals(
                            has(Member.DROP_PATH),
                            moving.sub(still.get(last)).abs().max().getFloat() > 1e-3);
                });
    }

    private boolean needsSquare() {
        return config instanceof Deit.Config deit && deit.needsSquare();
    }

    private static int[] all(Backbone backbone) {
        return IntStream.range(0, backbone.features().size()).toArray();
    }

    private boolean has(String setting) {
        return Member.has(config, setting);
    }

    /**
     * Returns the gradients of all trained parameters; empty if the levels do not depend on them.
     */
    private static NDList gradients(Backbone backbone, NDArray images, int... levels) {
        return SampleRandom.call(
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

    /** Returns the parameters that the levels depend on. */
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
}
