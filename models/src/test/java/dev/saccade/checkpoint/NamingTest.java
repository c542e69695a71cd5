package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.backbones.ResNet;
import dev.saccade.backbones.Swin;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;
import dev.saccade.heads.RetinaNetHead;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.ModelConfig;
import dev.saccade.necks.Fpn;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Names, shapes and order of the models of other libraries against those of ours. */
class NamingTest {

    @Test
    void resNet50HasTheNamesAndShapesOfTorchvision() {
        assertEquals(
                ours(Configs.of(ResNet.Config.class).build()),
                official("resnet50.names", UnaryOperator.identity()));
    }

    @Test
    void retinaNetHasTheNamesAndShapesOfTorchvisionTranslated() {
        assertEquals(
                ours(retinaNet()),
                official("retinanet_resnet50_fpn.names", UnaryOperator.identity()));
    }

    @Test
    void filesFromBeforeTorchvision013HaveTheirOwnNames() {
        UnaryOperator<String> old =
                name -> {
                    String shorter = name.replaceAll("_blocks\\.(\\d)\\.0\\.", "_blocks.$1.");
                    for (int i = 3; i > 0; i--) {
                        shorter =
                                shorter.replace(
                                        "head.conv." + i + ".0.", "head.conv." + 2 * i + ".");
                    }
                    return shorter.replace("head.conv.0.0.", "head.conv.0.");
                };

        assertEquals(ours(retinaNet()), official("retinanet_resnet50_fpn.names", old));
    }

    @ParameterizedTest
    @CsvSource({"openmmlab, ''", "openmmlab, backbone.", "timm, ''", "torchvision, ''"})
    void swinHasTheNamesAndShapesOfEveryLibraryTranslated(String library, String prefix) {
        Map<String, Shape> ours = new TreeMap<>();
        ours(Configs.of(Swin.Config.class, "variant=tiny").build())
                .forEach((name, shape) -> ours.put(prefix + name, shape));
        if (!library.equals("openmmlab")) {
            ours.keySet().removeIf(Expectations::isFresh);
        }

        assertEquals(ours, official("swin_tiny_" + library + ".names", prefix::concat));
    }

    @ParameterizedTest
    @CsvSource({
        "OPENMMLAB, swin_tiny_openmmlab.names",
        "TIMM, swin_tiny_timm.names",
        "TORCHVISION, swin_tiny_torchvision.names",
        "TORCHVISION, resnet50.names",
        "TORCHVISION, retinanet_resnet50_fpn.names",
    })
    void whatIsNamedAsOursGetsTheirNamesAndShapesBack(Naming naming, String file) {
        Map<String, Shape> theirs = named(file, UnaryOperator.identity());
        Map<String, Shape> back =
                shapes(naming.fromSaccade(Naming.toSaccade(TestFiles.ofOnes(theirs))));

        assertEquals(theirs, back);
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
    void swinComesBackFromEveryNaming(Naming naming, String prefix) {
        try (NDManager manager = NDManager.newBaseManager()) {
            Module swin = TestFiles.swin(7);
            swin.initialize(manager, 3);
            Map<String, Tensor> tensors = new LinkedHashMap<>();
            Checkpoint.of(swin, Map.of())
                    .tensors()
                    .forEach((name, tensor) -> tensors.put(prefix + name, tensor));
            Checkpoint checkpoint = new Checkpoint(tensors, Map.of("CLASSES", "[]"));

            Checkpoint theirs = naming.fromSaccade(checkpoint);
            Map<String, Tensor> back = new LinkedHashMap<>(Naming.toSaccade(theirs).tensors());
            back.keySet().removeIf(Expectations::isComputed);

            assertEquals(checkpoint, new Checkpoint(back, theirs.metadata()));
        }
    }

    /** One channel: theirs is unfolded row by row, ours takes the lower left pixel second. */
    @Test
    void patchMergingIsReordered() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        String merging = "stages.0.downsample.";
        tensors.put(
                "stages.0.blocks.0.attn.w_msa.relative_position_bias_table",
                TestFiles.ones(new Shape(9, 1)));
        tensors.put(merging + "norm.bias", TestFiles.tensor(new Shape(4), 0, 1, 2, 3));
        tensors.put(
                merging + "reduction.weight",
                TestFiles.tensor(
                        new Shape(2, 8),
                        0,
                        1,
                        2,
                        3,
                        10,
                        11,
                        12,
                        13,
                        20,
                        21,
                        22,
                        23,
                        30,
                        31,
                        32,
                        33));

        Map<String, Tensor> ours = Naming.toSaccade(new Checkpoint(tensors, Map.of())).tensors();

        assertArrayEquals(
                new float[] {0, 2, 1, 3},
                TestFiles.values(ours.get("layers.0.downsample.norm.bias")));
        assertArrayEquals(
                new float[] {0, 10, 2, 12, 1, 11, 3, 13, 20, 30, 22, 32, 21, 31, 23, 33},
                TestFiles.values(ours.get("layers.0.downsample.reduction.weight")));
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
        Checkpoint checkpoint = TestFiles.ofOnes(Map.of(name, new Shape(2, 2)));

        assertSame(checkpoint, Naming.toSaccade(checkpoint));
        for (Naming naming : new Naming[] {Naming.OPENMMLAB, Naming.TIMM, Naming.TORCHVISION}) {
            String message =
                    assertThrows(SaccadeException.class, () -> naming.fromSaccade(checkpoint))
                            .getMessage();
            assertTrue(message.startsWith(naming + " has no names for this model"), message);
        }
    }

    private static DetectionModel retinaNet() {
        ModelConfig config =
                ModelConfig.detector(
                        Configs.of(ResNet.Config.class),
                        new Fpn.Config(256, 1, 5, Fpn.ExtraConvs.ON_OUTPUT, true),
                        new RetinaNetHead.Config());
        return new DetectionModel(config, Collections.nCopies(80, "thing"));
    }

    private static Map<String, Shape> ours(Module module) {
        Map<String, Shape> shapes = new TreeMap<>();
        module.namedParameters()
                .forEach((name, parameter) -> shapes.put(name, parameter.getShape()));
        return shapes;
    }

    private static Map<String, Shape> shapes(Checkpoint checkpoint) {
        Map<String, Shape> shapes = new TreeMap<>();
        checkpoint.tensors().forEach((name, tensor) -> shapes.put(name, tensor.shape()));
        return shapes;
    }

    /** Returns what a file lists, in our names and without what needs no place with us. */
    private static Map<String, Shape> official(String file, UnaryOperator<String> renaming) {
        Map<String, Shape> shapes =
                shapes(Naming.toSaccade(TestFiles.ofOnes(named(file, renaming))));
        shapes.keySet().removeIf(Expectations::isNeedless);
        return shapes;
    }

    private static Map<String, Shape> named(String file, UnaryOperator<String> renaming) {
        Map<String, Shape> shapes = new TreeMap<>();
        new String(TestFiles.bytes(file), StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.split(" "))
                .forEach(
                        words -> {
                            long[] shape =
                                    Arrays.stream(words)
                                            .skip(1)
                                            .mapToLong(Long::parseLong)
                                            .toArray();
                            shapes.put(renaming.apply(words[0]), new Shape(shape));
                        });
        return shapes;
    }
}
