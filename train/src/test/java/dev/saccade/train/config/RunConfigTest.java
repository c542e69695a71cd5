package dev.saccade.train.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.backbones.ResNet;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Transform;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.models.ModelConfig;
import dev.saccade.necks.Fpn;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.optimizers.ParameterRule;
import dev.saccade.train.schedules.PolySchedule;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Warmup;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

class RunConfigTest {

    private static final String SMALLEST =
            """
            model:
              backbone: {type: resnet, depth: 18}
              neck: {type: fpn}
              head: {type: retinanet}
            data:
              train: {type: coco}
            """;

    @TempDir private Path folder;

    private RunConfig read(String yaml, String... overrides) throws IOException {
        Path file = Files.writeString(folder.resolve("run.yaml"), yaml);
        return RunConfig.load(file, overrides);
    }

    @Test
    void needsModelAndDataOnly() throws IOException {
        RunConfig config = read(SMALLEST);
        assertEquals(12, config.epochs());
        assertEquals("AP", config.monitor());
        assertEquals(new RunLength(12 * 34, 34), config.length(34, 1));
        assertEquals(0.02, config.learningRate(1));
    }

    @Test
    void readsEverySetting() throws IOException {
        RunConfig config =
                read(
                        SMALLEST
                                + """
                                optimizer:
                                  type: adamw
                                  learning_rate: 0.0001
                                  norms: {weight_decay_factor: 0}
                                  biases: {learning_rate_factor: 2, weight_decay_factor: 0}
                                  rules:
                                    norm: {weight_decay_factor: 0}
                                schedule: {type: poly, power: 0.9, warmup: {iterations: 1500}}
                                iterations: 160000
                                accumulation: 3
                                reference_batch: 16
                                evaluation: {every: {iterations: 16000}, monitor: AP50, patience: 3}
                                checkpoint: {keep_every: {epochs: 4}}
                                """,
                        "data.batch_size=4");
        Optimizer.Config optimizer = config.optimizer();
        assertEquals(Map.of("norm", new ParameterRule(1, 0)), optimizer.paramwise().rules());
        assertEquals(Optional.of(new ParameterRule(1, 0)), optimizer.paramwise().norms());
        assertEquals(new ParameterRule(2, 0), optimizer.paramwise().biases());
        assertEquals(new PolySchedule(0.9, 0, new Warmup(1500, 1e-6)), config.schedule());
        assertEquals(new RunLength(160_000, 12), config.length(34, 1));
        assertEquals(0.75e-4, config.learningRate(1), 1e-18);
        assertTrue(config.evaluation().every().isDue(32_000, config.length(34, 1)));
        assertFalse(config.evaluation().every().isDue(24_000, config.length(34, 1)));
        assertTrue(config.checkpoint().keepEvery().orElseThrow().isDue(96, config.length(34, 1)));
    }

    @Test
    void isWrittenSoThatItReadsBackTheSame() throws IOException {
        RunConfig config = read(SMALLEST, "iterations=77", "max_gradient_norm=35");
        assertEquals(config, read(ConfigWriter.yaml(Configs.unbind(config))));
    }

    @Test
    void isParsedOrBuiltFromComponents() {
        RunConfig parsed = RunConfig.parse(SMALLEST);
        ModelConfig model =
                ModelConfig.detector(
                        Configs.of(ResNet.Config.class, "depth=18"),
                        Configs.of(Fpn.Config.class),
                        Configs.of(RetinaNetHead.Config.class));
        assertEquals(
                parsed.withoutDatasets().with("epochs=3"),
                Configs.of(RunConfig.class, Map.of("model", model, "epochs", 3)));
        SaccadeException none =
                assertThrows(
                        SaccadeException.class,
                        () -> parsed.withoutDatasets().data().requireTrain());
        assertTrue(none.getMessage().contains("data.train: missing"), none.getMessage());
    }

    @Test
    void appliesOverrides() throws IOException {
        String[] overrides = {
            "epochs=3", "model.backbone.depth=50", "optimizer={type: adamw, weight_decay: 0.1}"
        };
        RunConfig config = read(SMALLEST);
        assertEquals(read(SMALLEST, overrides), config.with(overrides));
        assertEquals(12, config.epochs());
        String swin = SMALLEST.replace("{type: resnet, depth: 18}", "{type: swin, variant: base}");
        assertEquals(
                read(swin, "model.backbone.variant=tiny"),
                read(swin).with("model.backbone.variant=tiny"));

        String[] wrong = {"epoch=3", "optimizer.momentum=2", "model.backbone.depth=many", "seed"};
        for (int count : List.of(3, 4)) {
            String[] some = Arrays.copyOf(wrong, count);
            String message =
                    assertThrows(SaccadeException.class, () -> read(SMALLEST, some)).getMessage();
            assertEquals(
                    message,
                    assertThrows(SaccadeException.class, () -> config.with(some)).getMessage());
        }
    }

    @Test
    void reportsAllErrors() {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                read(
                                        SMALLEST
                                                + """
                                                schedule: {type: poli}
                                                optimizer: {type: sgd, momentum: 1.5}
                                                epoch: 12
                                                accumulation: 0
                                                """));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("run.yaml:7"), e.getMessage());
        assertTrue(e.getMessage().contains("did you mean poly?"), e.getMessage());
        assertTrue(
                e.getMessage().contains("optimizer.momentum: got 1.5, expected less than 1"),
                e.getMessage());
        assertTrue(e.getMessage().contains("did you mean epochs?"), e.getMessage());
        assertTrue(e.getMessage().contains(":10: accumulation: got 0"), e.getMessage());
    }

    @Test
    void rejectsIncompatibleTransforms() {
        String late = "  train_transforms: [{type: normalize}, {type: random_flip}]\n";
        assertRefused(
                "config:7: data.train_transforms[1]: got random_flip after normalize, expected",
                SMALLEST + late);
        String pasting = "  train_transforms: [{type: resize}, {type: copy_paste%s}]\n";
        assertRefused(
                "data.train_transforms[1]: copy_paste: requires masks, but the model"
                        + " trains on boxes only",
                SMALLEST + String.format(Locale.ROOT, pasting, ""));
        RunConfig.parse(SMALLEST + String.format(Locale.ROOT, pasting, ", paste_by_box: true"));
    }

    @Test
    void reducesDecodedImagesForTheFirstTransformOnly() {
        String crop = "{type: random_resized_crop, size: [8, 8], reduced_decoding: true}";
        String expected =
                ": got random_resized_crop with reduced_decoding, expected reduced_decoding only in"
                        + " the first of train_transforms";
        assertRefused(
                "data.train_transforms[1]" + expected,
                SMALLEST + "  train_transforms: [{type: random_flip}, " + crop + "]\n");
        assertRefused(
                "data.val_transforms[0]" + expected,
                SMALLEST + "  val_transforms: [" + crop + "]\n");
        assertRefused(
                "branches" + expected,
                SMALLEST
                        + "  train_transforms: [{type: random_choice, branches: [["
                        + crop
                        + "]]}]\n");
    }

    @Test
    void skipsStrongAugmentationInTheLastEpochs() {
        String mosaic =
                SMALLEST
                        + """
                          train_transforms: [{type: mosaic}, {type: random_affine}, {type: resize}]
                          num_last_epochs: %s
                        epochs: 10
                        """;
        RunConfig run = RunConfig.parse(String.format(Locale.ROOT, mosaic, 3));
        for (int epoch = 0; epoch < 10; epoch++) {
            assertEquals(
                    epoch < 7 ? List.of("mosaic", "random_affine", "resize") : List.of("resize"),
                    run.trainTransforms().apply(epoch).stream().map(Transform::type).toList());
        }
        RunConfig never = RunConfig.parse(String.format(Locale.ROOT, mosaic, 0));
        assertEquals(3, never.trainTransforms().apply(20).size());
        assertRefused(
                "data.num_last_epochs: got 11, expected at most epochs: 10",
                String.format(Locale.ROOT, mosaic, 11));
        assertRefused(
                "data.num_last_epochs: got 3, expected 0 for a run of iterations; set epochs",
                String.format(Locale.ROOT, mosaic, 3) + "iterations: 90\n");
        assertRefused(
                "data.skip_type_keys: got [mixup], expected at least one type of train_transforms",
                String.format(Locale.ROOT, mosaic, "3\n  skip_type_keys: [mixup]"));
    }

    @Test
    void partialLabelsAreForEvaluationOnly() {
        String partial = "{type: partially_labeled, labeled: [cat]}";
        RunConfig.parse(SMALLEST + "  val: " + partial + "\n");
        for (String train :
                List.of(
                        partial,
                        "{type: concat, datasets: [{type: coco}, " + partial + "]}",
                        "{type: class_balanced, dataset: " + partial + "}")) {
            assertRefused(
                    "expected a data set with labels of all classes; partially_labeled is for"
                            + " data.val",
                    SMALLEST.replace("{type: coco}", train));
        }
    }

    @Test
    void classBalancedIsForTrainingOnly() {
        String balanced = "{type: class_balanced, dataset: %s}";
        String once = String.format(Locale.ROOT, balanced, "{type: coco}");
        RunConfig.parse(SMALLEST.replace("{type: coco}", once));
        assertRefused(
                "config:7: data.val: got class_balanced, expected a data set"
                        + " without repeated images; repetition is for data.train",
                SMALLEST + "  val: " + once + "\n");
        assertRefused(
                "data.train.dataset: got class_balanced, expected a data set without repeated",
                SMALLEST.replace("{type: coco}", String.format(Locale.ROOT, balanced, once)));
        assertRefused(
                "put class_balanced inside of repeated_augmentation",
                SMALLEST.replace(
                        "{type: coco}",
                        String.format(Locale.ROOT, balanced, "{type: repeated_augmentation}")));
    }

    private static void assertRefused(String expected, String yaml) {
        String told =
                assertThrows(SaccadeException.class, () -> RunConfig.parse(yaml)).getMessage();
        assertTrue(told.contains(expected), told);
    }

    @Test
    void namesAnUnknownHook() {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> RunConfig.parse(SMALLEST + "hooks: [{type: stop_at, value: 1}]\n"));
        assertTrue(
                e.getMessage().contains("config:7: hooks[0].type: unknown type stop_at"),
                e.getMessage());
    }
}
