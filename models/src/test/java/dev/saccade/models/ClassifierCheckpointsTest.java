package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.base.Splitter;
import com.google.common.io.Resources;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Classification checkpoints with the names of the official code and of other libraries. */
class ClassifierCheckpointsTest {

    private static final String SWIN = "{type: swin, embed_dim: 8, window_size: 2";
    private static final String STAGED = ", depths: [1, 1, 1, 1], num_heads: [1, 1, 1, 1]}";
    private static final List<String> CLASSES = List.of("cat", "dog", "owl");

    private final NDManager manager = NDManager.newBaseManager();

    @AfterEach
    void free() {
        manager.close();
    }

    private static String backbone(String family) {
        return switch (family) {
            case "swin" -> SWIN + STAGED;
            case "elsa_swin" -> "{type: elsa_swin, embed_dim: 12, window_size: 2" + STAGED;
            case "focal" -> "{type: focal, embed_dim: 8, window_size: 4" + STAGED;
            case "linglo" -> "{type: linglo, embed_dims: [8, 8, 8, 8]" + STAGED;
            case "pvt" -> "{type: pvt, cls_token: true, embed_dims: [8, 8, 8, 8]" + STAGED;
            case "deit" -> "{type: deit, embed_dim: 12, depth: 2, num_heads: 2}";
            case "resnet" -> "{type: resnet, depth: 50, stem_channels: 4, base_channels: 4}";
            default -> throw new IllegalArgumentException(family);
        };
    }

    private static ClassificationModel classifier(String family, List<String> classes) {
        List<String> settings =
                new ArrayList<>(
                        List.of(
                                "backbone=" + backbone(family),
                                "head={type: linear_cls, norm: " + !family.equals("resnet") + "}"));
        if (!family.equals("deit")) {
            settings.add("backbone.out_indices=[3]");
        }
        if (!family.matches("deit|resnet")) {
            settings.add("backbone.output_norms=false");
        }
        return new ClassificationModel(
                Configs.of(ModelConfig.class, settings.toArray(String[]::new)), classes);
    }

    /** Returns a checkpoint of the library's classifier. */
    private static Checkpoint theirs(ClassificationModel model, String library, String prefix) {
        Map<String, Tensor> bare = new LinkedHashMap<>();
        Checkpoint.of(model, Map.of())
                .tensors()
                .forEach((name, tensor) -> bare.put(name.replaceFirst("^backbone\\.", ""), tensor));
        Checkpoint named = Naming.of(library).fromSaccade(new Checkpoint(bare, Map.of()));
        Map<String, Tensor> prefixed = new LinkedHashMap<>();
        named.tensors()
                .forEach(
                        (name, tensor) ->
                                prefixed.put(
                                        (name.startsWith("classifier") ? "" : prefix) + name,
                                        tensor));
        return new Checkpoint(prefixed, Map.of());
    }

    @ParameterizedTest
    @CsvSource({
        "swin, official, '', head.weight",
        "swin, timm, '', head.fc.weight",
        "swin, torchvision, '', head.weight",
        "swin, huggingface, swin., classifier.weight",
        "elsa_swin, official, '', head.weight",
        "focal, official, '', head.weight",
        "linglo, official, '', head.weight",
        "pvt, official, '', head.weight",
        "deit, official, '', head.weight",
        "resnet, torchvision, '', fc.weight",
        "resnet, huggingface, resnet., classifier.1.weight"
    })
    void loadsCompletely(String family, String library, String prefix, String layer) {
        ClassificationModel model = classifier(family, CLASSES);
        model.initialize(manager, 0);
        Checkpoint theirs = theirs(model, library, prefix);
        assertTrue(theirs.tensors().containsKey(layer), () -> "" + theirs.tensors().keySet());

        ClassificationModel other = classifier(family, CLASSES);
        other.initialize(manager, 1);
        LoadReport report = Weights.restore(theirs, other);

        assertTrue(report.isComplete(), report::toString);
        assertEquals(List.of(), report.unexpected());
        assertEquals(
                Checkpoint.of(model, Map.of()).tensors(), Checkpoint.of(other, Map.of()).tensors());
    }

    @ParameterizedTest
    @CsvSource({
        "swin, timm, ''",
        "swin, huggingface, swin.",
        "focal, official, ''",
        "pvt, official, ''",
        "deit, official, ''",
        "resnet, torchvision, ''",
        "resnet, huggingface, resnet."
    })
    void backbonesIgnoreTheClassifier(String family, String library, String prefix) {
        ClassificationModel model = classifier(family, CLASSES);
        model.initialize(manager, 0);
        Module backbone = model.backbone();
        LoadReport report = Weights.initialize(theirs(model, library, prefix), backbone);
        assertEquals(List.of(), report.missing());
        assertEquals(List.of(), report.unexpected());
    }

    /** Returns a checkpoint with the names and shapes of an mmpretrain 1.2 classifier. */
    private Checkpoint mmpretrain(String family) throws IOException {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        URL names = Resources.getResource(ClassifierCheckpointsTest.class, "mmpretrain.txt");
        for (String line : Resources.readLines(names, StandardCharsets.UTF_8)) {
            List<String> words = Splitter.on(' ').splitToList(line);
            if (words.get(0).equals(family)) {
                long[] sizes = words.stream().skip(2).mapToLong(Long::parseLong).toArray();
                NDArray values = manager.randomUniform(0.1f, 1, new Shape(sizes));
                tensors.put(words.get(1), Tensor.of(values));
            }
        }
        return new Checkpoint(tensors, Map.of());
    }

    @ParameterizedTest
    @CsvSource({
        "swin, backbone.norm3.weight, norm.weight, head.fc.weight",
        "resnet, backbone.layer4.2.conv3.weight, backbone.layer4.2.conv3.weight, head.fc.weight",
        "deit, backbone.ln1.weight, norm.weight, head.layers.head.weight"
    })
    void loadsMmpretrainCompletely(String family, String theirs, String ours, String layer)
            throws IOException {
        Checkpoint checkpoint = mmpretrain(family);
        ClassificationModel model = classifier(family, CLASSES);
        model.initialize(manager, 1);
        LoadReport report = Weights.restore(checkpoint, model);
        assertTrue(report.isComplete(), report::toString);
        assertEquals(List.of(), report.unexpected());
        Map<String, Tensor> loaded = Checkpoint.of(model, Map.of()).tensors();
        assertEquals(checkpoint.tensors().get(theirs), loaded.get(ours));
        assertEquals(checkpoint.tensors().get(layer), loaded.get("head.weight"));
        Checkpoint back = Naming.of("openmmlab").fromSaccade(new Checkpoint(loaded, Map.of()));
        for (String name : List.of(theirs, layer)) {
            assertEquals(checkpoint.tensors().get(name), back.tensors().get(name), name);
        }
    }

    @Test
    void rejectsDistilledModels() throws IOException {
        ClassificationModel model = classifier("deit", CLASSES);
        model.initialize(manager, 1);
        Checkpoint checkpoint = mmpretrain("deit_distilled");
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> Weights.restore(checkpoint, model));
        assertTrue(error.getMessage().contains("is a distilled DeiT"), error.getMessage());
    }
}
