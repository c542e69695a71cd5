package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.Resources;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.SegmentationModel;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Optimizer;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Every registered backbone under every registered head, each from a few lines of YAML: it learns,
 * is saved, and predicts the same in a process that knows nothing but the file.
 */
class EveryCombinationTest {

    /** A side that is no multiple of any stride. */
    private static final Size SIZE = new Size(67, 93);

    private static final List<String> CLASSES = List.of("cat", "dog", "sky");
    static final ConfigNode.Mapping HEADS = heads();

    /** Heads that learn from their own proposals, which are others at every step. */
    static final Set<String> PROPOSING =
            Set.of("faster_rcnn", "mask_rcnn", "cascade_mask_rcnn", "htc");

    /** Settings of a small backbone, of the keys that it has. */
    static final ImmutableMap<String, String> SMALL =
            ImmutableMap.of(
                    "embed_dim", "24",
                    "embed_dims", "[16, 32, 80, 128]",
                    "depths", "[2, 1, 1, 1]",
                    "depth", "18",
                    "stem_channels", "8",
                    "base_channels", "8");

    @TempDir private static Path folder;
    private static Process other;
    private static BufferedWriter requests;
    private static BufferedReader answers;

    private static ConfigNode.Mapping heads() {
        String name = "every_head.yaml";
        try {
            return ConfigFile.parse(
                    Resources.toString(
                            Resources.getResource(EveryCombinationTest.class, name), UTF_8),
                    name);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Loads each checkpoint that it is given a line of, and writes what it predicts beside it. */
    public static void main(String[] args) throws IOException {
        BufferedReader files = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = files.readLine(); line != null; line = files.readLine()) {
            Path file = Path.of(line);
            Checkpoint checkpoint = Checkpoints.open(file);
            ModelSpec spec = ModelSpec.fromMetadata(checkpoint.metadata(), line);
            try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                Model<?> model = spec.model().build(spec.classes());
                model.initialize(manager, 1);
                Weights.restore(checkpoint, model);
                Files.writeString(predictions(file), predicted(model, scene(manager).batch()));
            }
            System.out.println(line);
        }
    }

    private static Path predictions(Path checkpoint) {
        return checkpoint.resolveSibling(checkpoint.getFileName() + ".txt");
    }

    private static NoiseScene scene(NDManager manager) {
        return new NoiseScene(manager, 2, SIZE);
    }

    @BeforeAll
    static void startTheOtherProcess() throws IOException {
        other =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                "-Dai.djl.offline=true",
                                "-Dai.djl.pytorch.num_threads=1",
                                EveryCombinationTest.class.getName())
                        .redirectError(folder.resolve("errors").toFile())
                        .start();
        requests = other.outputWriter(UTF_8);
        answers = other.inputReader(UTF_8);
    }

    @AfterAll
    static void endTheOtherProcess() {
        other.destroyForcibly();
    }

    static Stream<Arguments> combinations() {
        return Configs.registered(Backbone.Config.class).values().stream()
                .flatMap(
                        backbone ->
                                HEADS.entries().keySet().stream()
                                        .filter(head -> fits(backbone, head))
                                        .map(head -> Arguments.of(yaml(backbone), head)));
    }

    /** Returns whether a backbone has the levels of a head; only classifiers use one level. */
    private static boolean fits(Class<? extends Backbone.Config> backbone, String head) {
        Record config = Configs.of(backbone.asSubclass(Record.class));
        return head.equals("linear_cls")
                || ((Backbone.Config) config).build().features().size() > 1;
    }

    /** Returns a small model of a backbone and a head. */
    static ModelConfig config(String backbone, String head) {
        ConfigNode.Mapping parts =
                ((ConfigNode.Mapping) HEADS.get(head).orElseThrow())
                        .mergedWith(ConfigFile.parse("backbone: " + backbone, backbone));
        return Configs.bind(parts, ModelConfig.class);
    }

    private static String yaml(Class<? extends Backbone.Config> type) {
        Record backbone = Configs.of(type.asSubclass(Record.class));
        Map<String, ConfigNode> keys = Configs.unbind(backbone).entries();
        return SMALL.entrySet().stream()
                .filter(small -> keys.containsKey(small.getKey()))
                .map(small -> ", " + small.getKey() + ": " + small.getValue())
                .collect(
                        Collectors.joining(
                                "", "{type: " + ((Backbone.Config) backbone).type(), "}"));
    }

    @Test
    void noHeadIsLeftOut() {
        assertEquals(Configs.registered(HeadConfig.class).keySet(), HEADS.entries().keySet());
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void trainsAndPredictsTheSameInAnotherProcess(String backbone, String head) throws IOException {
        ModelConfig config = config(backbone, head);
        Model<?> model = config.build(CLASSES);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            model.initialize(manager, 0);
            List<Float> losses = train(model, scene(manager));
            assertTrue(losses.stream().allMatch(Float::isFinite), losses::toString);
            if (!PROPOSING.contains(head)) {
                assertTrue(losses.get(1) < losses.get(0), losses::toString);
            }

            Path file = Files.createTempFile(folder, "model", ".safetensors");
            ModelSpec spec = new ModelSpec(config, List.of(), CLASSES);
            Checkpoints.save(file, Checkpoint.of(model, spec.toMetadata()));
            requests.write(file + "\n");
            requests.flush();
            String here = predicted(model, scene(manager).batch());
            assertEquals(file.toString(), answers.readLine(), this::errors);
            assertEquals(here, Files.readString(predictions(file)));
            Files.delete(file);
        }
    }

    private String errors() {
        try {
            return Files.readString(folder.resolve("errors"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Takes a step and returns the losses before and after it. */
    private static List<Float> train(Model<?> model, NoiseScene scene) {
        model.train(true);
        List<Float> losses = new ArrayList<>();
        try (Optimizer optimizer = Configs.of(AdamW.Config.class).build(model)) {
            optimizer.step(scene.gradients(model, optimizer, losses::add), 1, 1e-3);
        }
        losses.add(scene.loss(model));
        return losses;
    }

    /** Returns all that is found in images, to the last bit. */
    private static String predicted(Model<?> model, ImageBatch images) {
        model.train(false);
        StringBuilder text = new StringBuilder();
        for (Object found : model.predict(images)) {
            if (found instanceof Instances objects) {
                assertFalse(objects.labels().length == 0);
                text.append(objects).append(objects.hasMasks() ? objects.masks() : "");
            } else if (found instanceof ClassScores scores) {
                text.append(scores);
            } else {
                text.append(Arrays.toString(((LabelMap) found).toArray()));
            }
            text.append('\n');
        }
        if (model instanceof SegmentationModel segmenter) {
            NDArray logits = NoGrad.call(() -> segmenter.logits(images.pixels()));
            text.append(Arrays.toString(logits.toFloatArray())).append('\n');
        }
        return text.toString();
    }
}
