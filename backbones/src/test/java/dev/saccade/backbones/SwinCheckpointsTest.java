package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Module;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Compares names, shapes and order with the models of other libraries. */
class SwinCheckpointsTest {

    private static final CheckpointRules RULES = Configs.of(Swin.Config.class).checkpointRules();

    private static boolean needsNoPlace(String name) {
        return name.endsWith("_index") || Stored.isAny(RULES.unexpected(), name);
    }

    @ParameterizedTest
    @CsvSource({
        "openmmlab, ''",
        "openmmlab, backbone.",
        "timm, ''",
        "torchvision, ''",
        "huggingface, ''",
        "huggingface_modules, ''"
    })
    void translatesNamesAndShapesOfEveryLibrary(String library, String prefix) {
        Map<String, Shape> ours = new TreeMap<>();
        Stored.shapes(Configs.of(Swin.Config.class, "variant=tiny").build())
                .forEach((name, shape) -> ours.put(prefix + name, shape));
        if (!library.equals("openmmlab")) {
            ours.keySet().removeIf(name -> Stored.isAny(RULES.missing(), name));
        }
        Map<String, Shape> theirs = new TreeMap<>();
        Stored.names("swin_tiny_" + library + ".names")
                .forEach((name, shape) -> theirs.put(prefix + name, shape));

        Map<String, Shape> named = Stored.shapes(Naming.toSaccade(Stored.ofOnes(theirs)));
        named.keySet().removeIf(SwinCheckpointsTest::needsNoPlace);

        assertEquals(ours, named);
    }

    @ParameterizedTest
    @CsvSource({
        "OPENMMLAB, swin_tiny_openmmlab.names",
        "TIMM, swin_tiny_timm.names",
        "TORCHVISION, swin_tiny_torchvision.names",
        "HUGGINGFACE, swin_tiny_huggingface.names",
        "HUGGINGFACE, resnet50_huggingface.names",
        "TORCHVISION, resnet50.names",
    })
    void translatesBackToNamesAndShapesOfOtherLibraries(String library, String file) {
        Map<String, Shape> theirs = Stored.names(file);
        Map<String, Shape> back =
                Stored.shapes(
                        Naming.of(library).fromSaccade(Naming.toSaccade(Stored.ofOnes(theirs))));

        Map<String, Shape> unprefixed = new TreeMap<>();
        theirs.forEach(
                (name, shape) -> unprefixed.put(name.replaceFirst("^(swin|resnet)\\.", ""), shape));
        back.keySet().removeIf(name -> name.endsWith("_index"));
        unprefixed.keySet().removeIf(name -> name.endsWith("_index"));
        assertEquals(unprefixed, back);
    }

    /** Query, key and value are joined in this order. */
    @Test
    void queryKeyAndValueAreJoined() {
        String attention = "swin.encoder.layers.0.blocks.1.attention.self.";
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put(attention + "value.weight", Tensor.of(new Shape(1, 1), 3));
        tensors.put(attention + "query.weight", Tensor.of(new Shape(1, 1), 1));
        tensors.put(attention + "key.weight", Tensor.of(new Shape(1, 1), 2));

        Map<String, Tensor> ours = Naming.toSaccade(new Checkpoint(tensors, Map.of())).tensors();

        assertEquals(
                Map.of("layers.0.blocks.1.attn.qkv.weight", Tensor.of(new Shape(3, 1), 1, 2, 3)),
                ours);
        tensors.remove(attention + "key.weight");
        Checkpoint without = new Checkpoint(tensors, Map.of());
        String message =
                assertThrows(SaccadeException.class, () -> Naming.toSaccade(without)).getMessage();
        assertTrue(message.contains("expected 3 tensors of equal shape to concatenate"), message);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void timmFeaturesHaveUnderscores(int first) {
        Map<String, Shape> ours =
                Stored.shapes(Configs.of(Swin.Config.class, "variant=tiny").build());
        Map<String, Shape> theirs = new TreeMap<>();
        ours.forEach(
                (name, shape) ->
                        theirs.put(
                                name.replaceFirst("^layers\\.(\\d)\\.blocks", "layers_$1.blocks")
                                        .replace("layers.0.d", "layers_" + first + ".d")
                                        .replace("layers.1.d", "layers_" + (first + 1) + ".d")
                                        .replace("layers.2.d", "layers_" + (first + 2) + ".d"),
                                shape));

        assertEquals(ours, Stored.shapes(Naming.toSaccade(Stored.ofOnes(theirs))));
    }

    @ParameterizedTest
    @CsvSource({
        "OFFICIAL, ''",
        "OFFICIAL, backbone.",
        "OPENMMLAB, ''",
        "OPENMMLAB, backbone.",
        "TIMM, ''",
        "TORCHVISION, ''"
    })
    void roundTripsThroughEveryNaming(String library, String prefix) {
        try (NDManager manager = NDManager.newBaseManager()) {
            Module swin = Stored.swin(7);
            swin.initialize(manager, 3);
            Map<String, Tensor> tensors = new LinkedHashMap<>();
            Checkpoint.of(swin, Map.of())
                    .tensors()
                    .forEach((name, tensor) -> tensors.put(prefix + name, tensor));
            Checkpoint checkpoint = new Checkpoint(tensors, Map.of("CLASSES", "[]"));

            Checkpoint theirs = Naming.of(library).fromSaccade(checkpoint);
            Map<String, Tensor> back = new LinkedHashMap<>(Naming.toSaccade(theirs).tensors());
            back.keySet().removeIf(name -> name.endsWith("_index"));

            assertEquals(checkpoint, new Checkpoint(back, theirs.metadata()));
        }
    }

    /**
     * One channel: other libraries unfold row by row; the official order takes the lower left pixel
     * second.
     */
    @Test
    void patchMergingIsReordered() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        String merging = "stages.0.downsample.";
        tensors.put(
                "stages.0.blocks.0.attn.w_msa.relative_position_bias_table",
                Stored.ones(new Shape(9, 1)));
        tensors.put(merging + "norm.bias", Tensor.of(new Shape(4), 0, 1, 2, 3));
        float[] reduction = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
        tensors.put(merging + "reduction.weight", Tensor.of(new Shape(2, 8), reduction));

        Map<String, Tensor> ours = Naming.toSaccade(new Checkpoint(tensors, Map.of())).tensors();

        assertArrayEquals(
                new float[] {0, 2, 1, 3}, Stored.values(ours.get("layers.0.downsample.norm.bias")));
        assertArrayEquals(
                new float[] {0, 10, 2, 12, 1, 11, 3, 13, 20, 30, 22, 32, 21, 31, 23, 33},
                Stored.values(ours.get("layers.0.downsample.reduction.weight")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "layers.1.blocks.0.attn.pre_proj.weight",
                "layers.1.downsample.reduction.weight",
                "layers.3.blocks.0.attn.rb",
                "layers.0.blocks.0.attn.relative_position_bias_table",
                "layers.1.downsample.proj.weight",
                "layers.0.blocks.0.attn2conv.conv.weight",
                "patch_embed2.proj.weight",
                "block1.0.attn.sr.weight",
                "stage1.0.mlp.cpe.branch1.conv.weight",
                "stages.0.1.dwconv.weight",
                "layer3.0.downsample.0.weight",
                "neck.fpn_convs.0.conv.weight"
            })
    void otherFamiliesKeepTheirNames(String name) {
        Checkpoint checkpoint = Stored.ofOnes(Map.of(name, new Shape(2, 2)));

        assertSame(checkpoint, Naming.toSaccade(checkpoint));
        for (String library : List.of("openmmlab", "timm", "torchvision")) {
            Naming naming = Naming.of(library);
            String message =
                    assertThrows(SaccadeException.class, () -> naming.fromSaccade(checkpoint))
                            .getMessage();
            assertTrue(message.startsWith(library + " has no names for this model"), message);
        }
    }
}
