package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.nn.Block;

import com.google.common.collect.ObjectArrays;

import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.nn.BatchNorm2d;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.stream.Stream;

/** Tests the setting {@code norm} of backbones with batch normalizations. */
class SynchronizedNormsTest {

    static List<Arguments> backbones() {
        return List.of(
                Arguments.of(ResNet.Config.class, List.of("depth=18", "norm_eval=false")),
                Arguments.of(
                        ResNet.Config.class,
                        List.of("depth=50", "norm_eval=false", "deep_stem=true")),
                Arguments.of(DwNet.Config.class, List.of("variant=tiny")),
                Arguments.of(DwNet.Config.class, List.of("variant=dynamic_tiny")),
                Arguments.of(LinGlo.Config.class, List.of("variant=b0", "skip=bn")));
    }

    private static Backbone build(Class<?> type, List<String> settings, String... others) {
        String[] all = ObjectArrays.concat(settings.toArray(String[]::new), others, String.class);
        return ((Backbone.Config) Configs.of(type.asSubclass(Record.class), all)).build();
    }

    private static Stream<BatchNorm2d> norms(Block block) {
        return block instanceof BatchNorm2d norm
                ? Stream.of(norm)
                : block.getChildren().values().stream().flatMap(SynchronizedNormsTest::norms);
    }

    @ParameterizedTest
    @MethodSource("backbones")
    void everyNormalizationIsSynchronized(Class<?> type, List<String> settings) {
        assertFalse(build(type, settings).synchronizes());
        Backbone backbone = build(type, settings, "norm=sync_bn");
        List<BatchNorm2d> norms = norms(backbone).toList();
        assertTrue(norms.size() > 10);
        assertTrue(norms.stream().allMatch(BatchNorm2d::synchronizes));
    }

    @Test
    void doesNotSynchronizeWithRunningStatistics() {
        List<String> synchronizedNorms = List.of("depth=50", "norm=sync_bn", "norm_eval=false");
        assertFalse(
                build(ResNet.Config.class, List.of("norm=sync_bn", "norm_eval=true"))
                        .synchronizes());
        Backbone frozen = build(ResNet.Config.class, synchronizedNorms, "frozen_stages=1");
        Backbone learned = build(ResNet.Config.class, synchronizedNorms);
        assertEquals(
                1 + 3 * 3 + 1,
                norms(learned).filter(BatchNorm2d::synchronizes).count()
                        - norms(frozen).filter(BatchNorm2d::synchronizes).count());
    }
}
