package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.convert.formats.SourceFormat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What is labeled in COCO's format is divided, and stays as it is. */
class CocoFileReaderTest {

    private static final String CATEGORIES =
            "\"categories\": [{\"id\": 7, \"name\": \"dog\"}, {\"id\": 3, \"name\": \"cat\"}]";

    private static final String BOX =
            "{\"id\": 1, \"image_id\": 1, \"category_id\": 3, \"bbox\": [1, 2, 3.5, 4],"
                    + " \"area\": 9}";

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void images() {
        labels = new Labels(folder);
        labels.image("images/default/a.png", 40, 30).image("images/default/b.png", 40, 30);
    }

    private void write(String file, String images, String... annotations) {
        labels.text(
                file,
                "{\"images\": [" + images + "],",
                CATEGORIES + ",",
                "\"annotations\": [" + String.join(",", annotations) + "]}");
    }

    private static String image(int id, String name) {
        return Text.format(
                "{\"id\": %d, \"file_name\": \"%s\", \"width\": 40, \"height\": 30}", id, name);
    }

    @Test
    void keepsAllPropertiesOfObjects() {
        write(
                "annotations/instances_default.json",
                image(1, "a.png") + "," + image(9, "b.png"),
                BOX,
                "{\"id\": 2, \"image_id\": 1, \"category_id\": 7, \"bbox\": [5, 5, 10, 10],"
                        + " \"area\": 50, \"segmentation\": [[5, 5, 15, 5, 5, 15]]}",
                "{\"id\": 3, \"image_id\": 1, \"category_id\": 7, \"bbox\": [0, 0, 2, 30],"
                        + " \"area\": 60, \"iscrowd\": 1, \"segmentation\":"
                        + " {\"size\": [30, 40], \"counts\": [0, 60, 1140]}}",
                "{\"id\": 4, \"image_id\": 1, \"category_id\": 3, \"bbox\": [5, 6, 7, 8],"
                        + " \"area\": 56, \"ignore\": 1}");
        SourceLabels read = labels.read(SourceFormat.COCO);
        assertEquals(List.of("dog", "cat"), read.classes());
        assertEquals(List.of(7L, 3L), read.categoryIds());
        assertTrue(read.images().stream().allMatch(image -> image.split().isEmpty()));
        Path target = folder.resolve("target");
        SourceLabels divided = read.withValidation(0.5, 0);
        try (OutputFolder output = OutputFolder.create(target, "convert-data", false, List.of())) {
            Conversion.write(divided, List.of(TargetFormat.COCO), output, () -> {});
            output.finish();
        }
        CocoDataset before =
                CocoDataset.open(
                        folder.resolve("annotations/instances_default.json"),
                        folder.resolve("images/default"),
                        List.of());
        int imageCount = 0;
        for (String part : List.of("train", "val")) {
            CocoDataset after =
                    CocoDataset.open(
                            target.resolve("annotations_" + part + ".json"),
                            target.resolve("images"),
                            List.of());
            imageCount += after.size();
            assertEquals(before.classes(), after.classes());
            assertEquals(7, after.categoryId(0));
            String name = after.image(0).file().getFileName().toString();
            List<Annotation> objects = before.annotations(name.equals("a.png") ? 0 : 1);
            for (int i = 0; i < objects.size(); i++) {
                requireSame(objects.get(i), after.annotations(0).get(i));
            }
        }
        assertEquals(2, imageCount);
    }

    private static void requireSame(Annotation before, Annotation after) {
        assertEquals(before.label(), after.label());
        assertEquals(before.box(), after.box());
        assertEquals(before.area(), after.area());
        assertEquals(before.flags(), after.flags());
        if (before.segmentation() instanceof Segmentation.Polygons polygons) {
            assertEquals(1, polygons.rings().size());
        } else {
            assertEquals(before.segmentation(), after.segmentation());
        }
    }

    @Test
    void derivesSplitsFromFolderOrName() {
        write("birds_train2017.json", image(1, "a.png"), BOX);
        write("valid/_annotations.coco.json", image(1, "./c.png"), BOX);
        labels.image("valid/c.png", 40, 30);
        assertEquals(
                List.of(Optional.of(Split.TRAIN), Optional.of(Split.VAL)),
                labels.read(SourceFormat.COCO).images().stream().map(LabeledImage::split).toList());
    }

    @Test
    void ignoresCaptionFiles() {
        write("instances_val2017.json", image(1, "a.png"), BOX);
        labels.text("captions_val2017.json", "{\"images\": 7}");
        assertEquals(List.of(), labels.findings(SourceFormat.COCO));
    }

    @Test
    void doesNotReportAnInvalidFileAsEmpty() {
        write(
                "train.json",
                image(1, "a.png"),
                BOX.replace("\"image_id\": 1", "\"image_id\": \"1\""));
        assertEquals(
                List.of(
                        "ERROR train.json:3:39: annotation 1: image_id: expected an integer, got"
                                + " \"1\""),
                labels.findings(SourceFormat.COCO));
    }

    @Test
    void reportsEveryFault() {
        write(
                "train.json",
                image(1, "a.png") + "," + image(2, "gone.png") + "," + image(3, "a.png"),
                BOX);
        write("val.json", image(1, "b.png"), BOX);
        labels.text(
                "more.json",
                "{\"images\": [" + image(1, "b.png") + "], \"annotations\": [],",
                "\"categories\": [{\"id\": 8, \"name\": \"dog\"}]}");
        labels.image("images/default/b.png", 10, 10);
        assertEquals(
                List.of(
                        "ERROR train.json: category 7 is \"dog\", unlike in earlier files; expected"
                                + " the same ids and names in all files",
                        "ERROR train.json: image 3: labels images/default/a.png, which train.json:"
                                + " image 1 also labels; remove one of the two files",
                        "ERROR val.json: image 1: images/default/b.png is in train and in val;"
                                + " expected it in one split",
                        "ERROR train.json: image 2: image gone.png in images/default does"
                                + " not exist",
                        "ERROR more.json: image 1: states 30x40 (height x width), but"
                                + " images/default/b.png is 10x10; the labels refer to another"
                                + " image"),
                labels.findings(SourceFormat.COCO));
    }

    /** Writes the same name, of another size, into the folders of two cameras. */
    private void twoCameras() {
        labels.image("cam1/images/0.png", 40, 30).image("cam2/images/0.png", 40, 30);
    }

    @Test
    void imagesBesideTheFileAreItsOwnWhereNamesRepeat() {
        twoCameras();
        write("cam2/annotations.json", image(1, "0.png"), BOX);
        assertEquals(List.of("cam2/images/0.png"), names());
    }

    @Test
    void imagesInFoldersNamedLikeTheFileAreItsOwnWhereNamesRepeat() {
        labels.image("frames/Train/0.png", 40, 30).image("frames/Validation/0.png", 40, 30);
        write("annotations/instances_Validation.json", image(1, "0.png"), BOX);
        write("annotations/instances_Train.json", image(1, "0.png"), BOX);
        assertEquals(List.of("frames/Train/0.png", "frames/Validation/0.png"), names());
        assertEquals(List.of(), labels.findings(SourceFormat.COCO));
    }

    @Test
    void distinguishesDatesAndLongerNames() {
        for (String folder : List.of("2024-01-02", "2024-02-01", "train2017", "train2017_old")) {
            labels.image("images/" + folder + "/0.png", 40, 30);
        }
        write("annotations/2024-02-01.json", image(1, "0.png"), BOX);
        write("annotations/train2017.json", image(1, "0.png"), BOX);
        assertEquals(List.of("images/2024-02-01/0.png", "images/train2017/0.png"), names());
    }

    @Test
    void rejectsAnAmbiguousFolder() {
        twoCameras();
        write("annotations/instances_default.json", image(1, "0.png"), BOX);
        List<String> findings = labels.findings(SourceFormat.COCO);
        assertEquals(1, findings.size());
        assertTrue(findings.get(0).contains("ERROR"), findings.get(0));
        assertTrue(findings.get(0).contains("cam1/images (1)"), findings.get(0));
        assertTrue(findings.get(0).contains("cam2/images (1)"), findings.get(0));
    }

    @Test
    void doesNotUseAnImageOfAnotherFolder() {
        twoCameras();
        labels.image("cam2/images/1.png", 40, 30).image("cam2/images/3.png", 40, 30);
        labels.image("cam1/images/2.png", 40, 30);
        write(
                "cam2/annotations.json",
                image(1, "0.png") + "," + image(2, "1.png") + "," + image(3, "2.png"),
                BOX);
        assertEquals(
                List.of(
                        "ERROR cam2/annotations.json: image 3: image 2.png in cam2/images"
                                + " does not exist"),
                labels.findings(SourceFormat.COCO));
    }

    @Test
    void absoluteNamesUnderARelativeFolderAreRead() {
        twoCameras();
        String file = folder.resolve("cam2/images/0.png").toAbsolutePath().toString();
        write("annotations.json", image(1, file), BOX);
        Path relative = Path.of("").toAbsolutePath().relativize(folder.toAbsolutePath());
        SourceLabels read = SourceFormat.COCO.read(relative, () -> {});
        assertEquals(List.of(), new Labels(relative).findings(read));
        assertEquals("cam2/images/0.png", read.images().get(0).name());
    }

    @Test
    void matchesNamesInOtherNotations() {
        labels.image("images/caf\u00e9 1+1.png", 40, 30).image("images/b.png", 40, 30);
        write(
                "annotations.json",
                image(1, "images\\\\caf%C3%A9%201%2B1.png") + "," + image(2, "images/B.PNG"),
                BOX);
        assertEquals(List.of("images/b.png", "images/caf\u00e9 1+1.png"), names());
    }

    private List<String> names() {
        return labels.read(SourceFormat.COCO).images().stream().map(LabeledImage::name).toList();
    }

    @Test
    void readsTheUprightBoxAroundARotatedOne() {
        write(
                "annotations.json",
                image(1, "a.png"),
                "{\"id\": 1, \"image_id\": 1, \"category_id\": 3, \"bbox\": [10, 12, 20, 6],"
                        + " \"area\": 120, \"segmentation\": [], \"attributes\":"
                        + " {\"occluded\": false, \"rotation\": 330.0}}",
                "{\"id\": 2, \"image_id\": 1, \"category_id\": 3, \"bbox\": [10, 12, 20, 6],"
                        + " \"area\": 120, \"attributes\": {\"rotation\": \"90\"}}");
        SourceLabels read = labels.read(SourceFormat.COCO);
        Annotation.Bbox turned = read.images().get(0).objects().get(0).box();
        double width = 20 * Math.sqrt(3) / 2 + 6 / 2.0;
        double height = 20 / 2.0 + 6 * Math.sqrt(3) / 2;
        assertEquals(20 - width / 2, turned.x(), 1e-9);
        assertEquals(15 - height / 2, turned.y(), 1e-9);
        assertEquals(width, turned.width(), 1e-9);
        assertEquals(height, turned.height(), 1e-9);
        assertEquals(6, read.images().get(0).objects().get(1).box().width(), 1e-9);
        assertTrue(labels.findings(read).get(0).contains("2 bboxes with attributes.rotation"));
    }

    @Test
    void aSupercategoryWithoutObjectsIsReportedAndNamesLoseTheirBlanks() {
        labels.text(
                "train.json",
                "{\"images\": [" + image(1, "a.png") + "], \"annotations\": [" + BOX + "],",
                "\"categories\": [{\"id\": 0, \"name\": \"pets\", \"supercategory\": \"none\"},",
                "{\"id\": 3, \"name\": \" cat\u00a0\", \"supercategory\": \"pets\"}]}");
        SourceLabels read = labels.read(SourceFormat.COCO);
        assertEquals(List.of("pets", "cat"), read.classes());
        List<String> findings = labels.findings(read);
        assertEquals(1, findings.size());
        assertTrue(findings.get(0).startsWith("warning train.json: category 0: \"pets\""));
    }

    @Test
    void copiesOfOneImageStayTogether() {
        String names = "";
        for (int i = 0; i < 12; i++) {
            String name = "images/default/c" + i + ".png";
            labels.image(name, 40, 30);
            names +=
                    image(i + 1, "c" + i + ".png")
                                    .replace(
                                            "}", ", \"extra\": {\"name\": \"s" + i / 3 + ".jpg\"}}")
                            + (i < 11 ? "," : "");
        }
        write("annotations.json", names, BOX);
        SourceLabels read = labels.read(SourceFormat.COCO);
        for (long seed = 0; seed < 5; seed++) {
            SourceLabels divided = read.withValidation(0.5, seed);
            for (int source = 0; source < 4; source++) {
                String name = "s" + source + ".jpg";
                assertEquals(
                        1,
                        divided.images().stream()
                                .filter(image -> image.source().equals(name))
                                .map(LabeledImage::split)
                                .distinct()
                                .count());
            }
        }
    }
}
