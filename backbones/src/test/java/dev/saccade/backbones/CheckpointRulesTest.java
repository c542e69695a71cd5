package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.PositionTable;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Tests the rules for checkpoints of other libraries. */
class CheckpointRulesTest {

    private static CheckpointRules rules(String type) {
        return Configs.defaults(Backbone.Config.class).stream()
                .filter(config -> config.type().equals(type))
                .findFirst()
                .orElseThrow()
                .checkpointRules();
    }

    private static Optional<PositionTable> table(String type, String name) {
        return rules(type).positions().stream()
                .filter(table -> table.name().matches(name))
                .findFirst();
    }

    @ParameterizedTest
    @CsvSource({
        "swin, layers.0.blocks.0.attn.relative_position_bias_table, BICUBIC, false",
        "swin, backbone.absolute_pos_embed, BICUBIC, false",
        "dynamic_conv_swin, layers.0.blocks.0.attn.relative_position_bias_table, BICUBIC, false",
        "elsa_swin, layers.3.blocks.0.attn.rb, BICUBIC, true",
        "unified_swin, layers.3.blocks.0.attn.rb, BICUBIC, true",
        "focal, layers.1.blocks.0.attn.relative_position_bias_table_to_windows.0, BILINEAR, true",
        "pvt, pos_embed4, BILINEAR, false",
    })
    void tablesOfPositionsAreResizedAsTheOfficialCodeDoes(
            String type, String name, PositionTable.Method method, boolean positionsLast) {
        PositionTable table = table(type, name).orElseThrow();
        assertEquals(method, table.method());
        assertEquals(positionsLast, table.positionsLast());
    }

    @ParameterizedTest
    @CsvSource({
        "swin, a.a_relative_position_bias_table",
        "swin, a.relative_position_bias_table.weight",
        "focal, a.relative_position_bias_table_to_neighbors",
        "elsa_swin, a.carb"
    })
    void similarNamesAreNotPositionTables(String type, String name) {
        assertEquals(Optional.empty(), table(type, name));
    }

    @ParameterizedTest
    @CsvSource({
        "resnet, fc.weight, true",
        "resnet, backbone.fc.bias, true",
        "resnet, head.fc.weight, false",
        "swin, head.fc.weight, true",
        "swin, head.weight, true",
        "swin, norm.bias, true",
        "swin, norm1.bias, false",
        "pvt, cls_token, true",
        "linglo, head.bias, true"
    })
    void ignoresClassifierParameters(String type, String name, boolean expected) {
        assertEquals(expected, Stored.isAny(rules(type).unexpected(), name));
    }

    @ParameterizedTest
    @CsvSource({
        "swin, backbone.norm3.weight, true",
        "swin, layers.3.norm.weight, false",
        "focal, layers.3.blocks.1.attn.relative_position_bias_table_to_neighbors, true",
        "focal, layers.2.blocks.1.attn.relative_position_bias_table_to_neighbors, false"
    })
    void classifiersLackOutputNormalizations(String type, String name, boolean expected) {
        assertEquals(expected, Stored.isAny(rules(type).missing(), name));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "resnet50",
                "resnet50_huggingface",
                "resnet50_detectron2",
                "resnet50_caffe2"
            })
    void translatesResNet50NamesOfOtherLibraries(String file) {
        Map<String, Shape> theirs = Stored.names(file + ".names");

        Map<String, Shape> named = Stored.shapes(Naming.toSaccade(Stored.ofOnes(theirs)));
        named.keySet()
                .removeIf(
                        name ->
                                name.endsWith("num_batches_tracked")
                                        || Stored.isAny(rules("resnet").unexpected(), name));

        assertEquals(Stored.shapes(Configs.of(ResNet.Config.class).build()), named);
    }

    @Test
    void listsTheLibrariesOfSwinAndResNet() {
        assertEquals(
                List.of(
                        "official",
                        "caffe2",
                        "detectron2",
                        "huggingface",
                        "openmmlab",
                        "timm",
                        "torchvision"),
                Naming.libraries());
    }
}
