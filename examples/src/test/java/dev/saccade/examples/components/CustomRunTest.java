package dev.saccade.examples.components;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.Detector;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.imageio.ImageIO;

/** Trains, evaluates, saves, loads and resumes a detector of custom components. */
class CustomRunTest {

    private static final Path CONFIG = Path.of("src/test/resources/custom_components.yaml");
    private static final int STEPS_PER_EPOCH = 3;

    /** Starts at 0, so that updates are not rounded. */
    private static final String BIAS = "bbox_head.atss_reg.bias";

    @TempDir private static Path data;
    @TempDir private Path folder;

    @BeforeAll
    static void draw() throws IOException {
        draw("train", 2 * STEPS_PER_EPOCH);
        draw("val", 2);
    }

    /** Draws a disc and a square on some images and lists them. */
    private static void draw(String name, int photos) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < photos; i++) {
            BufferedImage image = new BufferedImage(96, 64, BufferedImage.TYPE_INT_RGB);
            Graphics2D pen = image.createGraphics();
            pen.setColor(Color.RED);
            pen.fillOval(6 + 2 * i, 10, 30, 30);
            pen.setColor(Color.BLUE);
            pen.fillRect(56, 8 + 3 * i, 24, 24);
            pen.dispose();
            String photo = name + i + ".png";
            ImageIO.write(image, "png", data.resolve(photo).toFile());
            lines.add(photo + ",disc," + (6 + 2 * i) + ",10,30,30");
            lines.add(photo + ",square,56," + (8 + 3 * i) + ",24,24");
        }
        Files.write(data.resolve(name + ".csv"), lines);
    }

    private static Training training(String... settings) {
        RunConfig config = RunConfig.load(CONFIG, "data.root='" + data + "'").with(settings);
        return Training.of(config);
    }

    private RunFolder files(String run) {
        return new RunFolder(folder.resolve(run));
    }

    /** Records logs and the update of each step. */
    private static final class Recording implements Hook {

        private final List<StepReport> steps = new ArrayList<>();
        private final List<EvaluationReport> evaluations = new ArrayList<>();
        private final List<Float> moves = new ArrayList<>();
        private float before;

        @Override
        public void beforeStep(Run run) {
            before = bias(run);
        }

        @Override
        public void afterStep(Run run, StepReport step) {
            steps.add(step);
            moves.add(Math.abs(bias(run) - before));
        }

        @Override
        public void afterEvaluation(Run run, EvaluationReport evaluation) {
            evaluations.add(evaluation);
        }

        private static float bias(Run run) {
            return run.model().namedParameters().get(BIAS).getArray().getFloat(0);
        }
    }

    private Recording record(String run, String... settings) {
        Recording recording = new Recording();
        Outcome outcome = training(settings).start(folder.resolve(run), recording);
        assertEquals(Outcome.FINISHED, outcome);
        return recording;
    }

    @Test
    void everyComponentIsUsed() {
        Recording run = record("run");

        assertEquals(2 * STEPS_PER_EPOCH, run.steps.size());
        double smoothed = run.steps.get(0).loss();
        for (int i = 0; i < run.steps.size(); i++) {
            StepReport step = run.steps.get(i);
            assertEquals(
                    Set.of("loss_cls", "loss_bbox", "loss_centerness"), step.losses().keySet());
            assertTrue(Double.isFinite(step.loss()), step.toString());
            smoothed = (smoothed + step.loss()) / 2;
            assertEquals(smoothed, step.metrics().get("smoothed_loss"));
            double rate = i < STEPS_PER_EPOCH ? 1e-3 : 5e-4;
            assertEquals(rate, step.learningRate(), "the schedule halves it after an epoch");
            assertEquals(rate, run.moves.get(i), 1e-8, "steps of this optimizer have one length");
        }
        assertEquals(2, run.evaluations.size());
        run.evaluations.forEach(
                each ->
                        assertEquals(
                                Set.of("neg_counting_error", "count_accuracy"),
                                each.metrics().keySet()));
        Set<String> saved = new HashSet<>(Checkpoints.open(files("run").last()).tensors().keySet());
        assertTrue(
                saved.containsAll(
                        List.of(
                                "backbone.blocks.12.channels.conv.weight",
                                "neck.convs.3.weight",
                                "bbox_head.atss_centerness.weight",
                                "optimizer.exp_avg.neck.convs.3.weight")),
                saved.toString());
    }

    @Test
    void loadsAndPredicts() {
        record("run");
        try (Detector detector = Detector.load(files("run").best())) {
            assertEquals(List.of("disc", "square"), detector.classes());
            assertTrue(detector.detect(data.resolve("val0.png"), 0).size() > 0);
        }
    }

    @Test
    void resumesBitForBit() throws IOException {
        record("whole");
        Training training = training();
        Hook interrupting =
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        if (step.iteration() == 2) {
                            training.stop();
                        }
                    }
                };
        Path broken = folder.resolve("broken");

        assertEquals(Outcome.INTERRUPTED, training.start(broken, interrupting));
        Recording rest = new Recording();
        assertEquals(Outcome.FINISHED, Training.of(Training.config(broken)).resume(broken, rest));

        assertEquals(2 * STEPS_PER_EPOCH - 2, rest.steps.size());
        assertArrayEquals(
                Files.readAllBytes(files("whole").last()),
                Files.readAllBytes(files("broken").last()));
    }

    /** Skips evaluation, which takes longer than the step. */
    private Map<String, Double> firstLosses(String run, String... settings) {
        List<String> all = new ArrayList<>(List.of("iterations=1", "data.val=null"));
        all.addAll(List.of(settings));
        return record(run, all.toArray(String[]::new)).steps.get(0).losses();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "loss_cls        | model.backbone.width=0.5",
                "loss_cls        | model.neck.beta=3",
                "loss_cls        | model.head.loss_cls={type: focal}",
                "loss_bbox       | model.head.loss_bbox={type: l1}",
                "loss_bbox       | model.head.bbox_coder={type: delta_xywh}",
                "loss_centerness | model.head.assigner.topk=1",
                "loss_cls        | model.head.sampler.num=16",
                "loss_cls        | data.train_transforms=[{type: normalize}, {type: pad}]",
            })
    void componentsChangeTheLoss(String term, String setting) {
        double own = firstLosses("own").get(term);

        assertNotEquals(own, firstLosses("other", setting).get(term));
        assertEquals(own, firstLosses("again").get(term));
    }

    @Test
    void reportsDataErrors() throws IOException {
        Path file = folder.resolve("train.csv");
        Files.writeString(file, "a.png,disc,1,2,3,4\nb.png,disc,1,2,3\nc.png,disc,1,2,3,wide\n");
        Training training = training("data.root='" + folder + "'");

        String message =
                assertThrows(SaccadeException.class, () -> training.start(folder.resolve("run")))
                        .getMessage();

        assertTrue(message.startsWith(file + ": 2 problems"), message);
        assertTrue(message.contains("line 2: got \"b.png,disc,1,2,3\", expected photo,"), message);
        assertTrue(message.contains("line 3: got"), message);
    }
}
