package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.convert.formats.SourceFormat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/** Reads the same task of Label Studio 1.23 in three export formats. */
class LabelStudioExportTest {

    private static final String IMAGE = "ffedfcd3-15.jpg";

    /** Relative to the size of the image. */
    private static final double TOLERANCE = 1e-9;

    @TempDir Path folder;
    private List<Annotation> expected;

    @BeforeEach
    void readJson() throws IOException {
        Labels json = new Labels(folder.resolve("json"));
        copy(json, "json/project.json");
        SourceLabels read = json.image(IMAGE, 800, 600).read(SourceFormat.LABEL_STUDIO);
        assertEquals(List.of("date", "fig", "hazelnut"), read.classes());
        expected = read.images().get(0).objects();
        assertEquals(6, expected.size());
    }

    private static void copy(Labels labels, String... files) throws IOException {
        for (String file : files) {
            try (InputStream in =
                    LabelStudioExportTest.class.getResourceAsStream("/label_studio/" + file)) {
                labels.bytes(file.substring(file.indexOf('/') + 1), in.readAllBytes());
            }
        }
    }

    private Labels export(String name) throws IOException {
        Labels labels = new Labels(folder.resolve(name));
        if (name.equals("coco")) {
            copy(labels, "coco/result.json");
        } else {
            copy(labels, "yolo/classes.txt", "yolo/notes.json", "yolo/labels/ffedfcd3-15.txt");
        }
        return labels;
    }

    @ParameterizedTest
    @CsvSource({"coco,COCO", "yolo,YOLO"})
    void boxesEqualTheJsonExport(String name, SourceFormat format) throws IOException {
        SourceLabels read = export(name).image("images/" + IMAGE, 800, 600).read(format);
        assertEquals(List.of("date", "fig", "hazelnut"), read.classes());
        assertEquals(1, read.images().size());
        List<Annotation> actual = read.images().get(0).objects();
        assertEquals(expected.size(), actual.size());
        for (int i = 0; i < expected.size(); i++) {
            Annotation.Bbox box = expected.get(i).box();
            assertEquals(expected.get(i).label(), actual.get(i).label());
            assertEquals(box.x(), actual.get(i).box().x(), 800 * TOLERANCE);
            assertEquals(box.y(), actual.get(i).box().y(), 600 * TOLERANCE);
            assertEquals(box.width(), actual.get(i).box().width(), 800 * TOLERANCE);
            assertEquals(box.height(), actual.get(i).box().height(), 600 * TOLERANCE);
        }
    }

    @ParameterizedTest
    @CsvSource({"coco,COCO", "yolo,YOLO"})
    void reportsMissingImages(String name, SourceFormat format) throws IOException {
        String findings = export(name).findings(format).toString();
        assertTrue(findings.contains("copy the images into it"), findings);
    }
}
