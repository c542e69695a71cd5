package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import com.google.common.io.Resources;

import dev.saccade.backbones.ResNet;
import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.config.Configs;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.necks.Fpn;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Compares names and shapes with torchvision's RetinaNet. */
class TorchvisionRetinaNetTest {

    @Test
    void translatesTorchvisionNamesAndShapes() throws IOException {
        assertEquals(ours(), translated(theirs(UnaryOperator.identity())));
    }

    @Test
    void readsNamesFromBeforeTorchvision013() throws IOException {
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

        assertEquals(ours(), translated(theirs(old)));
    }

    @Test
    void translatesSaccadeNamesBack() throws IOException {
        Checkpoint theirs = theirs(UnaryOperator.identity());

        Checkpoint back = Naming.of("torchvision").fromSaccade(Naming.toSaccade(theirs));

        assertEquals(theirs, back);
    }

    private static Map<String, Shape> ours() {
        ModelConfig config =
                ModelConfig.detector(
                        Configs.of(ResNet.Config.class),
                        Configs.of(
                                Fpn.Config.class,
                                "start_level=1",
                                "add_extra_convs=on_output",
                                "relu_before_extra_convs=true"),
                        Configs.of(RetinaNetHead.Config.class));
        Map<String, Shape> shapes = new TreeMap<>();
        new DetectionModel(config, Collections.nCopies(80, "thing"))
                .namedParameters()
                .forEach((name, parameter) -> shapes.put(name, parameter.getShape()));
        return shapes;
    }

    private static Map<String, Shape> translated(Checkpoint theirs) {
        Map<String, Shape> shapes = new TreeMap<>();
        Naming.toSaccade(theirs)
                .tensors()
                .forEach((name, tensor) -> shapes.put(name, tensor.shape()));
        shapes.keySet().removeIf(name -> name.endsWith("num_batches_tracked"));
        return shapes;
    }

    private static Checkpoint theirs(UnaryOperator<String> renaming) throws IOException {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        Resources.readLines(
                        Resources.getResource(
                                TorchvisionRetinaNetTest.class, "retinanet_resnet50_fpn.names"),
                        StandardCharsets.UTF_8)
                .stream()
                .map(line -> line.split(" "))
                .forEach(words -> tensors.put(renaming.apply(words[0]), tensor(words)));
        return new Checkpoint(tensors, Map.of());
    }

    private static Tensor tensor(String... words) {
        Shape shape = new Shape(Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray());
        return new Tensor(ElementType.UINT8, shape, ByteBuffer.allocate((int) shape.size()));
    }
}
