package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.ops.attention.ElsaAttention;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Map;
import java.util.Optional;

class ElsaSwinTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "tiny, 28373322",
        "small, 52106970",
        "base, 91659256",
        "large, 203480244",
    })
    void hasThePublishedNumberOfParameters(String variant, long parameters) {
        assertEquals(
                parameters,
                Configs.of(ElsaSwin.Config.class, "variant=" + variant).build().parameterCount());
    }

    /** The group width of all other variants would add this many parameters to tiny. */
    @Test
    void tinyHasADifferentGroupWidth() {
        ElsaSwin.Config tiny = Configs.of(ElsaSwin.Config.class, "variant=tiny");
        Backbone.Config wrong = Configs.with(tiny, "group_width=8");
        assertEquals(29517298, BackboneSummary.classifierParameters(wrong, wrong.build()));
        assertEquals(29140978, BackboneSummary.classifierParameters(tiny, tiny.build()));
    }

    /** Two thirds of the channels, rounded down to even and up to whole groups. */
    @ParameterizedTest
    @CsvSource({"96, 4, 64", "128, 8, 88", "256, 8, 176", "512, 8, 344", "20, 8, 16", "22, 8, 16"})
    void roundsTheQueriesUpToWholeGroups(int channels, int groupWidth, int queries) {
        Elsa elsa = elsa(channels, 1, "group_width=" + groupWidth);
        Shape weight = elsa.namedParameters().get("pre_proj.weight").getShape();
        assertEquals(2L * queries + channels, weight.get(0));
    }

    @ParameterizedTest
    @CsvSource({"tiny, 4.771e9", "small, 9.558e9", "base, 16.666e9", "large, 36.56e9"})
    void countsTheMultiplyAddsOfThePaper(String variant, double published) {
        ElsaSwin swin = new ElsaSwin(Configs.of(ElsaSwin.Config.class, "variant=" + variant));
        swin.initialize(manager, 0);
        NDArray image = manager.ones(new Shape(1, 3, 224, 224));
        long count = MultiplyAdds.count(() -> NoGrad.call(() -> swin.apply(image)));
        assertEquals(published, (double) count, 0.005e9);
    }

    /** Factors of the ghost head are around 1, summands are small. */
    @Test
    void initializesBothPartsOfTheGhostHead() {
        Elsa elsa = elsa(96, 3, "lam=1");
        elsa.initialize(manager, 0);
        NDArray ghosts = elsa.namedParameters().get("ghost_head").getArray();
        assertEquals(new Shape(2, 1, 96, 7, 7), ghosts.getShape());
        assertEquals(1, ghosts.get(0).square().mean().sqrt().getFloat(), 0.05);
        assertEquals(0.02, ghosts.get(1).square().mean().sqrt().getFloat(), 0.001);
    }

    /**
     * Values, queries, keys and the bias table in the official layout, compared with Swin's layout.
     */
    @Test
    void windowAttentionMatchesSwinWithReorderedWeights() {
        ElsaSwin elsa = new ElsaSwin(windows());
        Swin swin =
                new Swin(
                        Configs.of(
                                Swin.Config.class,
                                "embed_dim=8",
                                "depths=[1, 1, 1, 2]",
                                "num_heads=[1, 2, 4, 8]",
                                "window_size=3",
                                "drop_path_rate=0",
                                "out_indices=[0, 3]"));
        elsa.initialize(manager, 0);
        swin.initialize(manager, 0);
        elsa.namedParameters().values().forEach(p -> scatter(p.getArray()));
        swin.namedParameters()
                .forEach(
                        (name, parameter) ->
                                MemoryFormat.copy(
                                        inSwinsLayout(name, elsa.namedParameters()),
                                        parameter.getArray()));
        NDArray image = manager.randomNormal(new Shape(1, 3, 150, 130));
        List<NDArray> expected = NoGrad.call(() -> swin.apply(image)).levels();
        List<NDArray> actual = NoGrad.call(() -> elsa.apply(image)).levels();
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(expected.get(i).toFloatArray(), actual.get(i).toFloatArray(), 1e-4f);
        }
    }

    private void scatter(NDArray parameter) {
        parameter.addi(manager.randomNormal(parameter.getShape()).muli(0.2));
    }

    private static NDArray inSwinsLayout(String name, Map<String, Parameter> elsa) {
        if (name.endsWith("relative_position_bias_table")) {
            String rb = name.replace("relative_position_bias_table", "rb");
            NDArray biases = elsa.get(rb).getArray();
            return biases.flip(1).transpose();
        }
        if (name.contains(".qkv.")) {
            NDArray vqk = elsa.get(name.replace("qkv", "pre_proj")).getArray();
            long c = vqk.getShape().get(0) / 3;
            return vqk.get(c + ":").concat(vqk.get(":" + c), 0);
        }
        return elsa.get(name.replace("attn.proj", "attn.post_proj")).getArray();
    }

    private static ElsaSwin.Config windows() {
        return Configs.of(
                ElsaSwin.Config.class,
                "embed_dim=8",
                "depths=[1, 1, 1, 2]",
                "num_heads=[1, 2, 4, 8]",
                "elsa_stages=0",
                "window_size=3",
                "drop_path_rate=0",
                "out_indices=[0, 3]");
    }

    /** Algorithm 4: a convolution in groups of two, with taps at the center and at the offset. */
    @ParameterizedTest
    @CsvSource({"1", "2"})
    void shiftsNeighborsInTheStrictForm(int dilation) {
        ElsaAttention attention = new ElsaAttention(3, dilation, 0, 0);
        Elsa elsa = elsa(6, 2, "elsa_kernel=3", "dilation=" + dilation, "gamma=0", "form=strict");
        elsa.initialize(manager, 0);
        elsa.namedParameters().values().forEach(p -> scatter(p.getArray()));
        NDArray x = manager.randomNormal(new Shape(2, 6, 5, 4)).transpose(0, 2, 3, 1);
        NDArray mapped = conv(x.transpose(0, 3, 1, 2), elsa, "pre_proj", 1, 1);
        NDArray product = mapped.get(":, :4").mul(mapped.get(":, 4:8"));
        NDArray kernel = manager.zeros(new Shape(18, 2, 3, 3));
        for (int i = 0; i < 18; i++) {
            kernel.get("{}, 0, 1, 1", i).addi(1);
            kernel.get("{}, 1, {}, {}", i, i % 9 / 3, i % 3).addi(1);
        }
        NDArray logits = convolved(conv(product, elsa, "attn", 1, 1), kernel, null, dilation, 18);
        NDArray values = mapped.get(":, 8:").transpose(0, 2, 3, 1);
        NDArray attended = attention.attend(values, logits.transpose(0, 2, 3, 1), Optional.empty());
        Map<String, Parameter> named = elsa.namedParameters();
        NDArray expected =
                attended.matMul(named.get("post_proj.weight").getArray().transpose())
                        .add(named.get("post_proj.bias").getArray());
        assertArrayEquals(
                expected.toFloatArray(), NoGrad.call(() -> elsa.apply(x)).toFloatArray(), 1e-4f);
        assertFalse(named.containsKey("ghost_head"));
    }

    private static NDArray conv(NDArray x, Elsa elsa, String name, int dilation, int groups) {
        Map<String, Parameter> named = elsa.namedParameters();
        return convolved(
                x,
                named.get(name + ".weight").getArray(),
                named.get(name + ".bias").getArray(),
                dilation,
                groups);
    }

    private static NDArray convolved(
            NDArray x, NDArray weight, NDArray bias, int dilation, int groups) {
        Shape step = new Shape(1, 1);
        long reach = weight.getShape().get(2) / 2 * dilation;
        return x.getNDArrayInternal()
                .convolution(
                        x,
                        weight,
                        bias,
                        step,
                        new Shape(reach, reach),
                        new Shape(dilation, dilation),
                        groups)
                .singletonOrThrow();
    }

    private static Elsa elsa(int channels, int heads, String... settings) {
        Elsa.Config config = Configs.of(Elsa.Config.class, settings);
        return new Elsa(new Elsa.Widths(channels), heads, true, config);
    }

    @Test
    void rejectsInvalidSettings() {
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () -> Configs.of(ElsaSwin.Config.class, "variant=huge"));
        String message = "variant: unknown variant huge (known: tiny, small, base, large,";
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }
}
