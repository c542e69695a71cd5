package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.ClassBalancedDataset;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import javax.imageio.ImageIO;

/** Hybrid Task Cascade learns label maps beside objects, and is measured by objects alone. */
class SemanticBranchTest {

    private static final Size SIZE = new Size(64, 96);

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 8, num_outs: 5}
              head:
                type: htc
                rpn_head: {feat_channels: 8}
                stages:
                  - bbox_head: {num_shared_convs: 0, norm: none, fc_out_channels: 8}
                  - bbox_head: {num_shared_convs: 0, norm: none, fc_out_channels: 8}
                mask_head: {num_convs: 1, conv_out_channels: 8}
                semantic_head: {num_convs: 1, conv_out_channels: 8, num_classes: 4}
            data:
              batch_size: 2
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: resize}, {type: normalize}, {type: pad}]
              image_size: [96, 64]
            epochs: 1
            log_interval: 1
            """;

    /** Objects of one class, beside label maps of so many. */
    private record Scenes(List<ImageFile> images, int semanticClasses) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("box");
        }

        @Override
        public List<Annotation> annotations(int index) {
            return List.of(Annotation.of(index, 0, Rle.fromBox(SIZE, 8, 8, 40, 32)));
        }

        @Override
        public LabelMap labels(int index) {
            if (semanticClasses == 0) {
                return Dataset.super.labels(index);
            }
            return LabelMap.filled(SIZE, index % semanticClasses);
        }
    }

    @TempDir private Path folder;

    private List<ImageFile> photos;

    @BeforeEach
    void write() throws IOException {
        Path file = folder.resolve("photo.png");
        BufferedImage image =
                new BufferedImage(SIZE.width(), SIZE.height(), BufferedImage.TYPE_INT_RGB);
        ImageIO.write(image, "png", file.toFile());
        photos = IntStream.range(0, 4).mapToObj(i -> new ImageFile(i, file, SIZE)).toList();
    }

    @Test
    void trainsBothAndEvaluatesWithoutLabelMaps() throws IOException {
        Path run = folder.resolve("run");
        Training.of(RunConfig.parse(CONFIG), new Scenes(photos, 4), new Scenes(photos, 0))
                .start(run);
        String log = Files.readString(run.resolve("metrics.jsonl"));
        assertTrue(log.contains("loss_semantic_seg"), log);
        assertTrue(log.contains("s1.loss_mask"), log);
    }

    @Test
    void trainsBothWithClassBalancedSampling() throws IOException {
        Path run = folder.resolve("run");
        Dataset balanced = new ClassBalancedDataset(new Scenes(photos, 4), 1, true);
        Training.of(RunConfig.parse(CONFIG), balanced).start(run);
        String log = Files.readString(run.resolve("metrics.jsonl"));
        assertTrue(log.contains("loss_semantic_seg"), log);
    }

    @Test
    void reportsMissingLabelMapsBeforeTraining() {
        assertNotTrained("has no label maps", 0);
        assertNotTrained("is 5, but model.head.semantic_head.num_classes is 4", 5);
    }

    private void assertNotTrained(String expected, int semanticClasses) {
        Path run = folder.resolve("run");
        Training training =
                Training.of(RunConfig.parse(CONFIG), new Scenes(photos, semanticClasses));
        String message =
                assertThrows(SaccadeException.class, () -> training.start(run)).getMessage();
        assertTrue(message.contains("training did not start"), message);
        assertTrue(message.contains(expected), message);
        assertFalse(Files.exists(run));
    }

    @Test
    void acceptsUnusedLabelMaps() {
        RunConfig alone =
                RunConfig.parse(
                        CONFIG.replace(
                                "semantic_head: {num_convs: 1, conv_out_channels: 8, num_classes:"
                                        + " 4}",
                                "semantic_head: null"));
        Training.of(alone, new Scenes(photos, 4)).start(folder.resolve("run"));
    }

    @Test
    void trialRunsUseLabelMaps() {
        RunConfig config = RunConfig.parse(CONFIG);
        try (TrialRun trial = new TrialRun(config, 1, Device.cpu())) {
            trial.step(2, SIZE);
            assertTrue(trial.peakBytes(1, SIZE) > 0);
        }
    }
}
