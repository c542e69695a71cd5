package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.segmentation.SegmentationEvaluator;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

import javax.imageio.ImageIO;

/** Nothing is learned from, and nothing measured on, a data set that can only mislead. */
class DataCheckTest {

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              train_transforms: [{type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            epochs: 1
            """;

    private static final String SEGMENTER =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 8, num_outs: 4}
              head: {type: semantic_fpn, channels: 8}
            data:
              train_transforms: [{type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            epochs: 1
            """;

    /** Eight photographs with the same objects on each. */
    private record Objects(List<ImageFile> images, IntFunction<List<Annotation>> objects)
            implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("disc", "square");
        }

        @Override
        public List<Annotation> annotations(int index) {
            return objects.apply(index);
        }
    }

    /** Photographs of which each is of one class from edge to edge. */
    private record Plain(List<ImageFile> images, IntFunction<Integer> label) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("ground", "sky");
        }

        @Override
        public LabelMap labels(int index) {
            return LabelMap.filled(image(index).size(), label.apply(index));
        }
    }

    @TempDir private Path folder;

    private List<ImageFile> photos(int count, int width, int height) throws IOException {
        List<ImageFile> photos = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Path file = folder.resolve(width + "x" + height + (i == 0 ? "" : "_" + i) + ".png");
            BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
            image.setRGB(0, 0, i);
            ImageIO.write(image, "png", file.toFile());
            photos.add(new ImageFile(i, file, new Size(height, width)));
        }
        return photos;
    }

    private static IntFunction<List<Annotation>> box(double x, double y, double w, double h) {
        return index -> List.of(Annotation.of(index, 1, x, y, w, h));
    }

    private static void assertRefused(String expected, Executable work) {
        SaccadeException e = assertThrows(SaccadeException.class, work);
        assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
        assertTrue(e.getMessage().contains(expected), e.getMessage());
    }

    private void assertNotTrained(String config, String expected, Dataset... data) {
        Path run = folder.resolve("run");
        Training training =
                data.length == 1
                        ? Training.of(RunConfig.parse(config), data[0])
                        : Training.of(RunConfig.parse(config), data[0], data[1]);
        assertTrue(training.check(false, () -> {}).hasErrors());
        assertRefused("the data set has errors; training did not start", () -> training.start(run));
        assertRefused(expected, () -> training.start(run));
        assertFalse(Files.exists(run));
    }

    @Test
    void rejectsDataWithoutUsableObjects() throws IOException {
        List<ImageFile> photos = photos(8, 64, 48);
        Dataset sound = new Objects(photos, box(4, 4, 30, 30));
        Dataset none = new Objects(photos, index -> List.of());
        assertNotTrained(
                CONFIG,
                "data.train: no objects to train on: none of 8 images contains a disc, a square",
                none);
        assertNotTrained(
                CONFIG,
                "data.val: no objects to evaluate on: none of 8 images contains a disc, a square",
                sound,
                none);
        assertNotTrained(
                CONFIG,
                "data.train: data set: training uses only 0 of 8 objects; the rest are thinner",
                new Objects(photos, box(4, 4, 0.5, 30)));
        assertNotTrained(
                CONFIG,
                "data.train: data set: the bboxes are fractions of their images",
                new Objects(photos, box(0.5, 0.5, 0.5, 0.5)));
        assertNotTrained(
                CONFIG,
                "no objects to train on: all 8 objects are on images with a side below 32",
                new Objects(photos(8, 64, 31), box(4, 4, 20, 20)));
        assertNotTrained(
                CONFIG,
                "data.train: no objects to train on",
                new Objects(photos, i -> List.of(Annotation.of(i, -1, 4, 4, 20, 20))));
        Dataset rare =
                new Objects(
                        photos,
                        i -> i == 5 ? List.of(Annotation.of(i, 0, 4, 4, 20, 20)) : List.of());
        DataReports reports =
                Training.of(RunConfig.parse(CONFIG), rare, sound).check(false, () -> {});
        assertEquals(List.of(), reports.byRole().get("train").findings());
        assertFalse(reports.hasErrors(), "photographs without objects are no mistake");
    }

    @Test
    void reportsModelErrorsBeforeReadingImages() {
        ImageFile missing = new ImageFile(0, folder.resolve("missing.png"), new Size(48, 64));
        Dataset data = new Objects(List.of(missing), box(4, 4, 30, 30));
        Training unfit = Training.of(RunConfig.parse(CONFIG).with("model.neck.num_outs=1"), data);
        assertRefused(
                "model.neck.num_outs: got 1, expected at least",
                () -> unfit.check(false, () -> {}));
        assertTrue(Training.of(RunConfig.parse(CONFIG), data).check(false, () -> {}).hasErrors());
    }

    @Test
    void needsMoreThanOneClass() throws IOException {
        List<ImageFile> photos = photos(4, 64, 48);
        Dataset sound = new Plain(photos, index -> index % 2);
        assertNotTrained(
                SEGMENTER,
                "data.train: all labeled pixels have the class \"sky\"",
                new Plain(photos, index -> 1));
        assertNotTrained(
                SEGMENTER,
                "data.train: data set: no pixel of any label map has a class",
                new Plain(photos, index -> LabelMap.IGNORE));
        DataReports reports =
                Training.of(RunConfig.parse(SEGMENTER), sound, new Plain(photos, index -> 0))
                        .check(false, () -> {});
        assertFalse(reports.hasErrors(), "what is measured on may show one class alone");
    }

    @Test
    void rejectsValidationDataWithoutObjects() throws IOException {
        List<ImageFile> photos = photos(2, 64, 48);
        Dataset sound = new Objects(photos, box(4, 4, 30, 30));
        Path run = folder.resolve("detector");
        Training.of(RunConfig.parse(CONFIG).with("iterations=1"), sound).start(run);
        try (Detector detector = Detector.load(new RunFolder(run).last())) {
            assertEquals(2, DetectionEvaluator.evaluate(detector, sound).groundTruth().size());
            assertRefused(
                    "the data set has errors; evaluation did not start: data set: the bboxes appear to be"
                            + " [x1, y1, x2, y2]",
                    () ->
                            DetectionEvaluator.evaluate(
                                    detector, new Objects(photos, box(30, 20, 60, 40))));
        }
        Dataset halves = new Plain(photos, index -> index % 2);
        Path other = folder.resolve("segmenter");
        Training.of(RunConfig.parse(SEGMENTER).with("iterations=1"), halves).start(other);
        try (Segmenter segmenter = Segmenter.load(new RunFolder(other).last())) {
            assertTrue(
                    SegmentationEvaluator.evaluate(segmenter, halves).values().containsKey("mIoU"));
            assertRefused(
                    "evaluation did not start: data set: no pixel of any label map has a class",
                    () ->
                            SegmentationEvaluator.evaluate(
                                    segmenter, new Plain(photos, index -> LabelMap.IGNORE)));
        }
    }

    @Test
    void checksTheValidationSet() throws IOException {
        photos(1, 64, 48);
        String coco =
                """
                {"images": [{"id": 1, "file_name": "64x48.png", "width": 64, "height": 48}],
                 "annotations": [%s],
                 "categories": [{"id": 1, "name": "disc"}]}
                """;
        Path file = folder.resolve("val.json");
        RunConfig config =
                RunConfig.parse(CONFIG)
                        .with(
                                "data.val={type: coco, annotations: val.json, images: .}",
                                "data.root=" + folder);
        String box = "{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": %s}";
        Files.writeString(
                file,
                String.format(
                        Locale.ROOT, coco, String.format(Locale.ROOT, box, "[30, 20, 20, 15]")));
        assertEquals(List.of("disc"), DataReports.validationSet(config).classes());
        Files.writeString(file, String.format(Locale.ROOT, coco, ""));
        assertRefused(
                "data.val: no objects to evaluate on: none of 1 image contains a disc",
                () -> DataReports.validationSet(config));
        Files.writeString(
                file,
                String.format(
                        Locale.ROOT, coco, String.format(Locale.ROOT, box, "[30, 20, 50, 35]")));
        assertRefused(
                "the data set has errors; evaluation did not start: data.val: "
                        + file
                        + ": the bboxes appear to be [x1, y1, x2, y2]",
                () -> DataReports.validationSet(config));
        assertRefused(
                "set data.val in its config.yaml",
                () -> DataReports.validationSet(RunConfig.parse(CONFIG)));
    }

    @Test
    void reportsTheFirstFindings() throws IOException {
        Dataset thin =
                new Objects(photos(30, 64, 48), i -> List.of(Annotation.of(i, 7, 4, 4, 0.5, 30)));
        DatasetReport report =
                Training.of(RunConfig.parse(CONFIG), thin)
                        .check(false, () -> {})
                        .byRole()
                        .get("train");
        assertEquals(30, report.errors());
        assertRefused("data: 21 problems", () -> report.requireNoErrors("data"));
        assertRefused("and 10 more", () -> report.requireNoErrors("data"));
    }
}
