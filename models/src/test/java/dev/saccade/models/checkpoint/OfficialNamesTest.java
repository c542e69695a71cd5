package dev.saccade.models.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import dev.saccade.backbones.ResNet;
import dev.saccade.core.nn.Module;
import dev.saccade.heads.RetinaNetHead;
import dev.saccade.models.Detector;
import dev.saccade.models.ModelConfig;
import dev.saccade.necks.Fpn;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Names and shapes of torchvision's models against those of ours. */
class OfficialNamesTest {

    @Test
    void resNet50HasTheNamesAndShapesOfTorchvision() {
        assertEquals(
                ours(new ResNet.Config().build()),
                official("resnet50.names", UnaryOperator.identity()));
    }

    @Test
    void retinaNetHasTheNamesAndShapesOfTorchvisionTranslated() {
        assertEquals(
                retinaNet(), official("retinanet_resnet50_fpn.names", UnaryOperator.identity()));
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

        assertEquals(retinaNet(), official("retinanet_resnet50_fpn.names", old));
    }

    private static Map<String, Shape> retinaNet() {
        ModelConfig config =
                new ModelConfig(
                        new ResNet.Config(),
                        new Fpn.Config(256, 1, 5, Fpn.ExtraConvs.ON_OUTPUT, true),
                        new RetinaNetHead.Config());
        return ours(new Detector(config, Collections.nCopies(80, "thing")));
    }

    private static Map<String, Shape> ours(Module module) {
        Map<String, Shape> shapes = new TreeMap<>();
        module.namedParameters()
                .forEach((name, parameter) -> shapes.put(name, parameter.getShape()));
        return shapes;
    }

    private static Map<String, Shape> official(String file, UnaryOperator<String> renaming) {
        Map<String, Shape> shapes = new TreeMap<>();
        new String(TestFiles.bytes(file), StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.split(" "))
                .filter(words -> !OfficialNames.isNeedless(words[0]))
                .forEach(
                        words -> {
                            String name = OfficialNames.translate(renaming.apply(words[0]));
                            long[] shape =
                                    Arrays.stream(words)
                                            .skip(1)
                                            .mapToLong(Long::parseLong)
                                            .toArray();
                            shapes.put(name, new Shape(shape));
                        });
        return shapes;
    }
}
