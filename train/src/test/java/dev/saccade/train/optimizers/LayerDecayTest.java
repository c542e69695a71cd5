package dev.saccade.train.optimizers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.ModelConfig;

import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

class LayerDecayTest {

    private static final double RATE = 0.75;

    /** A net without a backbone. */
    private static final class Plain extends Layer {

        private final Conv2d conv =
                add("conv", new Conv2d(new Geometry(3, 4, 3).padding(1), WeightInit.ONES));

        @Override
        protected NDArray forward(NDArray x) {
            return conv.apply(x);
        }
    }

    private static Map<String, Double> factors(String backbone, String rules) {
        ModelConfig config =
                Configs.bind(
                        ConfigFile.parse(
                                String.format(
                                        Locale.ROOT,
                                        """
                                        backbone: {%s}
                                        neck: {type: fpn, out_channels: 8}
                                        head: {type: retinanet, feat_channels: 8, stacked_convs: 1}
                                        """,
                                        backbone),
                                "test"),
                        ModelConfig.class);
        Map<String, Double> factors = new HashMap<>();
        ParameterGroup.split(new DetectionModel(config, List.of("nut")), decaying(rules))
                .forEach(
                        group ->
                                group.parameters()
                                        .keySet()
                                        .forEach(
                                                name ->
                                                        factors.put(
                                                                name, group.learningRateFactor())));
        return factors;
    }

    private static Optimizer.Config decaying(String rules) {
        return Configs.of(Sgd.Config.class, "layer_decay={rate: " + RATE + "}", "rules=" + rules);
    }

    private static void assertFactor(
            Map<String, Double> factors, String name, int layersBeforeTheEnd) {
        assertEquals(Math.pow(RATE, layersBeforeTheEnd), factors.get(name), 1e-12, name);
    }

    /** Ids as SimMIM gives them for 2, 2, 6 and 2 blocks: 0 to 13. */
    @Test
    void decaysOverTheBlocksOfSwinAsSimMim() {
        Map<String, Double> factors =
                factors("type: swin, variant: tiny, embed_dim: 12, num_heads: [1, 2, 4, 8]", "{}");
        assertFactor(factors, "backbone.patch_embed.proj.weight", 13);
        assertFactor(factors, "backbone.patch_embed.norm.bias", 13);
        assertFactor(factors, "backbone.layers.0.blocks.0.norm1.weight", 12);
        assertFactor(factors, "backbone.layers.0.blocks.1.attn.qkv.weight", 11);
        assertFactor(factors, "backbone.layers.0.downsample.reduction.weight", 11);
        assertFactor(factors, "backbone.layers.1.blocks.0.mlp.fc1.weight", 10);
        assertFactor(factors, "backbone.layers.2.blocks.5.mlp.fc2.bias", 3);
        assertFactor(factors, "backbone.layers.2.downsample.norm.weight", 3);
        assertFactor(factors, "backbone.layers.3.blocks.1.norm2.weight", 1);
        assertFactor(factors, "backbone.norm0.weight", 0);
        assertFactor(factors, "neck.lateral_convs.0.conv.weight", 0);
        assertFactor(factors, "bbox_head.retina_cls.weight", 0);
    }

    @Test
    void decaysOverTheBlocksOfAResNetAndStagesOfEmbeddings() {
        Map<String, Double> resnet = factors("type: resnet, depth: 18", "{}");
        assertFactor(resnet, "backbone.conv1.weight", 9);
        assertFactor(resnet, "backbone.bn1.weight", 9);
        assertFactor(resnet, "backbone.layer1.0.conv1.weight", 8);
        assertFactor(resnet, "backbone.layer4.1.bn2.bias", 1);
        Map<String, Double> pvt = factors("type: pvt, variant: tiny", "{}");
        assertFactor(pvt, "backbone.patch_embed1.proj.weight", 9);
        assertFactor(pvt, "backbone.block1.1.attn.q.weight", 7);
        assertFactor(pvt, "backbone.patch_embed2.proj.weight", 7);
        assertFactor(pvt, "backbone.block4.1.mlp.fc1.weight", 1);
    }

    @Test
    void multipliesWithTheRules() {
        Map<String, Double> factors =
                factors(
                        "type: resnet, depth: 18",
                        "{bn1: {learning_rate_factor: 0.5, weight_decay_factor: 0}}");
        assertEquals(0.5 * Math.pow(RATE, 9), factors.get("backbone.bn1.weight"), 1e-12);
        assertFactor(factors, "backbone.conv1.weight", 9);
    }

    @Test
    void rejectsInvalidRatesAndModelsWithoutABackbone() {
        assertThrows(IllegalArgumentException.class, () -> new LayerDecay(0));
        assertThrows(IllegalArgumentException.class, () -> new LayerDecay(1.5));
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> ParameterGroup.split(new Plain(), decaying("{}")))
                        .getMessage();
        assertTrue(message.startsWith("optimizer.layer_decay: the model has no backbone"), message);
    }
}
