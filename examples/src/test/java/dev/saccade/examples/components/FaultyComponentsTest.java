package dev.saccade.examples.components;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.cli.Saccade;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentFailure;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Errors in custom components are reported as such. */
class FaultyComponentsTest {

    private static final Path CONFIG = Path.of("../configs/retinanet/resnet18_fpn_demo.yaml");

    @TempDir static Path scenes;
    @TempDir private Path folder;

    @BeforeAll
    static void draw() {
        SceneDataset.write(scenes, new SceneRenderer(1, new Size(64, 96)), 4, 2, n -> {});
    }

    private static List<String> settings(String... faulty) {
        List<String> all =
                new ArrayList<>(
                        List.of(
                                "data.root='" + scenes + "'",
                                "data.batch_size=2",
                                "data.val=null",
                                "data.image_size=[96, 64]",
                                "iterations=2",
                                "model.backbone.stem_channels=4",
                                "model.backbone.base_channels=4",
                                "model.neck.out_channels=8",
                                "model.head.feat_channels=8"));
        all.addAll(List.of(faulty));
        return all;
    }

    private String failure(String... faulty) {
        RunConfig config = RunConfig.load(CONFIG, settings(faulty).toArray(String[]::new));
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> Training.of(config).start(folder.resolve("run")));
        assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
        return e.getMessage();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "loss_bbox={type: faulty_box_loss} | loss_bbox faulty_box_loss: got float32 of"
                        + " shape (",
                "loss_bbox={type: faulty_box_loss, fault: type} | loss_bbox faulty_box_loss:"
                        + " got float64 of shape (), expected a float32 scalar",
                "loss_cls={type: faulty_loss} | loss_cls faulty_loss: got float32 of shape (",
                "loss_cls={type: faulty_loss, fault: type} | loss_cls faulty_loss: got float64",
                "assigner={type: faulty_assigner, missing: 1} | assigner faulty_assigner: got"
                        + " gtInds of type int64 and shape (",
                "assigner={type: faulty_assigner, index: 9} | got 9 in gtInds",
                "assigner={type: faulty_assigner, index: -2} | got -2 in gtInds",
                "sampler={type: faulty_sampler} | sampler faulty_sampler: got negMask of type"
                        + " boolean and shape (",
                "sampler={type: faulty_sampler, fault: type} | got posMask of type int64 and"
                        + " shape (",
                "sampler={type: faulty_sampler, fault: all} | priors in posMask that are not"
                        + " assigned to an object",
                "sampler={type: faulty_sampler, fault: many} | priors, expected at most num=10",
            })
    void reportsMismatchWithType(String setting, String output) {
        String unset = setting.substring(0, setting.indexOf('=')) + "=null";
        String message = failure("model.head." + unset, "model.head." + setting);
        assertTrue(message.contains(output), message);
    }

    @Test
    void levelsComeFromNeck() {
        assertEquals(
                "model.neck: faulty_neck returned levels with [4, 8, 16, 32] channels, but"
                        + " features() declares [8]",
                failure("model.neck={type: faulty_neck}"));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 0, -1})
    void rejectsInvalidLearningRates(double number) {
        assertEquals(
                "schedule faulty_schedule: got learning rate "
                        + Math.log(number)
                        + " for step 2, expected >= 0",
                failure("schedule={type: faulty_schedule, number: " + number + "}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "throws | java.lang.IllegalStateException: no such loss;",
                "torch  | The size of tensor a",
                "script | Unknown builtin op: aten::sun",
            })
    void reportsExceptionsWithComponent(String fault, String reason) throws IOException {
        String setting = "model.head.loss_cls={type: faulty_loss, fault: " + fault + "}";

        String message = failure(setting);

        assertTrue(
                message.startsWith("component faulty_loss: failed in org.example.faulty."),
                message);
        assertTrue(message.contains("(FaultyComponents.java:"), message);
        assertTrue(message.contains(reason), message);
        assertEquals(1, message.lines().count(), message);
        String log = Files.readString(new RunFolder(folder.resolve("run")).log());
        assertTrue(log.contains("at org.example.faulty.FaultyComponents.faulty("), log);
    }

    @Test
    void internalErrorsAreNotBlamedOnComponents() {
        assertTrue(ComponentFailure.of(new IllegalStateException("a bug")).isEmpty());
        assertTrue(ComponentFailure.of(SaccadeException.user("output")).isEmpty());
    }

    @Test
    void commandExitsWithUserError() {
        List<String> words = new ArrayList<>(List.of("train", CONFIG.toString()));
        settings("data.train_transforms=[{type: faulty_transform}]")
                .forEach(setting -> words.addAll(List.of("--set", setting)));
        words.addAll(List.of("--out", folder.resolve("run").toString()));
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(printed, true, UTF_8));
        int code;
        try {
            code = Saccade.run(words.toArray(String[]::new));
        } finally {
            System.setErr(before);
        }
        String told = printed.toString(UTF_8);
        assertEquals(SaccadeException.Kind.USER.exitCode(), code, told);
        assertTrue(
                told.contains("saccade: component faulty_transform: failed in org.example"), told);
        assertTrue(told.contains("image "), told);
        assertTrue(told.contains("not yet; this is third-party code"), told);
        assertFalse(told.contains("\tat "), told);
    }
}
