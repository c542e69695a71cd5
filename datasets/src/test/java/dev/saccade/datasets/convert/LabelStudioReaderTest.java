package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.Bytes;

import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.labels.BrushRle;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** Reads Label Studio's JSON export. */
class LabelStudioReaderTest {

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void images() {
        labels = new Labels(folder);
        labels.image("1a2b3c4d-a.png", 80, 60).image("b.png", 80, 60);
    }

    private static String region(String type, String value) {
        return "{\"id\":\"r\",\"type\":\""
                + type
                + "\",\"original_width\":80,\"original_height\":60,\"image_rotation\":0,"
                + "\"from_name\":\"label\",\"to_name\":\"image\",\"value\":{"
                + value
                + "}}";
    }

    private static String task(String image, String... regions) {
        return "{\"id\":7,\"annotations\":[{\"id\":1,\"was_cancelled\":false,"
                + "\"created_at\":\"2026-01-01T00:00:00Z\",\"result\":["
                + String.join(",", regions)
                + "]}],\"predictions\":[],\"data\":{\"image\":\""
                + image
                + "\",\"note\":\"text\"}}";
    }

    private void write(String... tasks) {
        labels.text("project.json", "[" + String.join(",", tasks) + "]");
    }

    @Test
    void boxesPolygonsEllipsesAndMasks() {
        Size size = new Size(60, 80);
        Rle mask = Rle.fromBox(size, 10, 20, 30, 10);
        List<Byte> rle = Bytes.asList(BrushRle.encode(mask));
        List<Integer> numbers = rle.stream().map(each -> each & 0xFF).toList();
        write(
                task(
                        "/data/upload/1/1a2b3c4d-a.png",
                        region(
                                "rectanglelabels",
                                "\"x\":10,\"y\":10,\"width\":50,\"height\":20,\"rotation\":0,"
                                        + "\"rectanglelabels\":[\"cat\"]"),
                        region(
                                "rectanglelabels",
                                "\"x\":50,\"y\":50,\"width\":25,\"height\":10,\"rotation\":90,"
                                        + "\"rectanglelabels\":[\"dog\",\"cat\"]"),
                        region(
                                "polygonlabels",
                                "\"points\":[[0,0],[50,0],[50,50]],\"polygonlabels\":[\"cat\"]"),
                        region(
                                "ellipselabels",
                                "\"x\":50,\"y\":50,\"radiusX\":10,\"radiusY\":20,\"rotation\":0,"
                                        + "\"ellipselabels\":[\"cat\"]"),
                        region(
                                "brushlabels",
                                "\"format\":\"rle\",\"rle\":"
                                        + numbers
                                        + ",\"brushlabels\":[\"dog\"]"),
                        "{\"type\":\"relation\",\"from_id\":\"r\",\"to_id\":\"r\"}",
                        region("keypointlabels", "\"x\":1,\"y\":1,\"keypointlabels\":[\"cat\"]"),
                        region("choices", "\"choices\":[\"day\"]")),
                task("/data/local-files/?d=set%2Fb.png"));
        SourceLabels read = labels.read(SourceFormat.LABEL_STUDIO);
        assertEquals(List.of("cat", "dog"), read.classes());
        assertEquals(2, read.images().size());
        List<Annotation> objects = read.images().get(0).objects();
        assertEquals(new Annotation.Bbox(8, 6, 40, 12), objects.get(0).box());
        // Rotated by 90 degrees around its first corner, to the left of it.
        assertEquals(34, objects.get(1).box().x(), 1e-9);
        assertEquals(30, objects.get(1).box().y(), 1e-9);
        assertEquals(6, objects.get(1).box().width(), 1e-9);
        assertEquals(20, objects.get(1).box().height(), 1e-9);
        assertEquals(600, objects.get(2).area(), 1e-9);
        assertEquals(24, objects.get(3).box().height(), 1e-9);
        assertEquals(mask, objects.get(4).segmentation().mask(size));
        assertEquals(
                List.of(
                        "warning project.json: 1 result: regions with several labels; the first of"
                                + " each is used",
                        "warning project.json: 1 result: type keypointlabels is not an object; left"
                                + " out",
                        "warning project.json: 1 result: type relation is not an object; left out",
                        "warning .: skipped 1 choices, because other labels are objects",
                        "warning .: 1 of 5 objects have a box but no outline; they are kept for"
                                + " box-only models, but mask models reject them"),
                labels.findings(read));
    }

    @Test
    void usesTheNewestAnnotationAndOriginalNames() {
        String box = "\"x\":%d,\"y\":10,\"width\":50,\"height\":20,\"rectanglelabels\":[\"cat\"]";
        String older = region("rectanglelabels", box.replace("%d", "10"));
        String newer = region("rectanglelabels", box.replace("%d", "20"));
        String task = task("http://localhost:8080/data/upload/2/01234567-b.png", newer);
        String second = task("", older).replaceAll("^.*?\"annotations\":\\[|\\],\"pred.*$", "");
        second = second.replace("2026-01-01", "2025-01-01");
        write(
                task.replace("],\"predictions\"", "," + second + "],\"predictions\""),
                task("a.png").replace("\"was_cancelled\":false", "\"was_cancelled\":true"));
        SourceLabels read = labels.read(SourceFormat.LABEL_STUDIO);
        assertEquals(16, read.images().get(0).objects().get(0).box().x(), 1e-9);
        assertEquals("b.png", read.images().get(0).name());
        assertEquals(
                List.of(
                        "warning project.json: 1 result: tasks with several annotations; the newest"
                                + " of each is used",
                        "warning project.json: 1 result: tasks without an annotation are skipped",
                        "warning .: 1 image without an annotation, such as 1a2b3c4d-a.png, is"
                                + " skipped"),
                labels.findings(read));
    }

    @Test
    void choicesBecomeImageClasses() {
        String dog = region("choices", "\"choices\":[\"dog\"]");
        write(task("1a2b3c4d-a.png", dog), task("b.png"));
        SourceLabels read = labels.read(SourceFormat.LABEL_STUDIO);
        assertTrue(read.imageClasses());
        assertEquals(List.of("dog"), read.classes());
        assertEquals(1, read.images().size());
        assertEquals(0, read.images().get(0).objects().get(0).label());
        write(task("b.png", dog, dog));
        List<String> found = labels.findings(SourceFormat.LABEL_STUDIO);
        assertTrue(found.toString().contains("got 2 choices, expected one class per image"));
    }

    @Test
    void reportsEveryFault() {
        write(
                task(
                        "b.png",
                        region("rectanglelabels", "\"x\":NaN,\"rectanglelabels\":[\"cat\"]"),
                        region("polygonlabels", "\"points\":[[1]],\"polygonlabels\":[\"cat\"]"),
                        region("brushlabels", "\"rle\":[0,300],\"brushlabels\":[\"cat\"]"),
                        region("brushlabels", "\"rle\":[0,1],\"brushlabels\":[\"cat\"]"),
                        region(
                                        "rectanglelabels",
                                        "\"x\":1,\"y\":1,\"width\":5,\"height\":5,"
                                                + "\"rectanglelabels\":[\"cat\"]")
                                .replace("image_rotation\":0", "image_rotation\":90"),
                        region("brushlabels", "\"rle\":[0,1],\"brushlabels\":[\"cat\"]")
                                .replace("original_width\":80", "original_width\":99999999")),
                task("/data/upload/1/../../gone.png"),
                task("gone.txt"));
        List<String> found = labels.findings(SourceFormat.LABEL_STUDIO);
        String all = String.join("\n", found);
        for (String message :
                List.of(
                        "region r: x: got NaN, expected percent of the image",
                        "region r: points: expected pairs of numbers",
                        "region r: rle: got 300.0, expected numbers from 0 to 255",
                        "region r: rle: ends before the mask is complete",
                        "rotated by 90.0 degrees",
                        "expected at most 268435456 pixels",
                        "gone.png does not exist",
                        "data has 0 images, expected one image per task")) {
            assertTrue(all.contains(message), message + " is missing in\n" + all);
        }
        labels.text("project.json", "[{\"id\":1,\"image\":\"b.png\",\"label\":[]}]");
        all = String.join("\n", labels.findings(SourceFormat.LABEL_STUDIO));
        assertTrue(all.contains("not as JSON-MIN"), all);
    }
}
