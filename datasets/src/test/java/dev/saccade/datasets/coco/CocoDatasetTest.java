package dev.saccade.datasets.coco;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.TrainingTargets;
import dev.saccade.datasets.loader.DataLoader;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;

class CocoDatasetTest {

    private static final String IMAGES =
            """
            "images": [
              {"id": 42, "file_name": "b.jpg", "width": 100, "height": 80, "license": 1},
              {"id": 7, "file_name": "sub/a.jpg", "width": 50, "height": 60}
            ]\
            """;

    private static final String CATEGORIES =
            """
            "categories": [
              {"id": 3, "name": "cat"}, {"id": 1, "name": "dog"}, {"id": 9, "name": "cow"}
            ]\
            """;

    @TempDir Path folder;

    @Test
    void keepsTheOrderOfTheFileAcrossGapsInTheIds() throws IOException {
        CocoDataset dataset =
                open(
                        IMAGES,
                        CATEGORIES,
                        annotations(
                                "{'id': 5, 'image_id': 7, 'category_id': 9,"
                                        + " 'bbox': [1,2,3,4], 'area': 12}",
                                "{'id': 900, 'image_id': 42, 'category_id': 3,"
                                        + " 'bbox': [0,0,9.5,9], 'area': 7.25, 'iscrowd': 1}",
                                "{'id': 1, 'image_id': 7, 'category_id': 1,"
                                        + " 'bbox': [5,6,7,8], 'area': 3, 'ignore': true}"));

        assertEquals(List.of("cat", "dog", "cow"), dataset.classes());
        assertEquals(9, dataset.categoryId(2));
        assertEquals(
                new ImageFile(42, folder.resolve("b.jpg"), new Size(80, 100)), dataset.image(0));
        assertEquals(folder.resolve("sub/a.jpg"), dataset.image(1).file());
        assertEquals(List.of(5L, 1L), dataset.annotations(1).stream().map(Annotation::id).toList());
        assertEquals(
                new Annotation(
                        900,
                        0,
                        new Annotation.Bbox(0, 0, 9.5, 9),
                        7.25,
                        new Segmentation.None(),
                        Set.of(Annotation.Flag.CROWD)),
                dataset.annotations(0).get(0));
        assertTrue(dataset.annotations(1).get(1).ignore());
    }

    @Test
    void readsAllEncodingsOfOutlinesWithoutLoss() throws IOException {
        CocoDataset dataset =
                open(
                        IMAGES,
                        CATEGORIES,
                        annotations(
                                outlined(
                                        1,
                                        "[[1.25, 2.5, 30.01, 4, 5, 0.333333333],"
                                                + " [7,8,9,10,11,12.99]]"),
                                outlined(2, "{'size': [4, 5], 'counts': [5,2,2,2,2,2,5]}"),
                                outlined(3, "{'counts': '5220003', 'size': [4, 5]}"),
                                outlined(4, "[]"),
                                outlined(5, "null")));

        List<Annotation> annotations = dataset.annotations(0);
        Segmentation.Polygons polygons =
                assertInstanceOf(Segmentation.Polygons.class, annotations.get(0).segmentation());
        assertArrayEquals(
                new double[] {1.25, 2.5, 30.01, 4, 5, 0.333333333}, polygons.rings().get(0));
        assertArrayEquals(new double[] {7, 8, 9, 10, 11, 12.99}, polygons.rings().get(1));
        Segmentation runs = new Segmentation.Runs(new Size(4, 5), "5220003");
        assertEquals(runs, annotations.get(1).segmentation());
        assertEquals(runs, annotations.get(2).segmentation());
        assertInstanceOf(Segmentation.None.class, annotations.get(3).segmentation());
        assertInstanceOf(Segmentation.None.class, annotations.get(4).segmentation());
    }

    @Test
    void labelsFollowTheFileEvenIfTheConfigNamesAnotherOrder() throws IOException {
        Path json =
                write(IMAGES, CATEGORIES, annotations(outlined(1, "null"), outlined(2, "null")));
        CocoDataset dataset = CocoDataset.open(json, folder, List.of("cow", "dog"));

        assertEquals(List.of("dog", "cow"), dataset.classes());
        assertEquals(-1, dataset.annotations(0).get(0).label());
        assertEquals(1, dataset.categoryId(0));
    }

    @Test
    void trainsOnUsableObjectsOnly() throws IOException {
        CocoDataset dataset =
                open(
                        IMAGES,
                        CATEGORIES,
                        annotations(
                                boxed(1, "[-5, 10, 30, 20]", "'area': 9"),
                                boxed(2, "[100, 0, 10, 10]", "'area': 9"),
                                boxed(3, "[1, 1, 10, 0.5]", "'area': 9"),
                                boxed(4, "[1, 1, 10, 10]", "'area': 0"),
                                boxed(5, "[1, 1, 10, 10]", "'area': 9, 'iscrowd': 1"),
                                boxed(6, "[1, 1, 10, 10]", "'area': 9, 'ignore': 1"),
                                boxed(7, "[1, 1, 99.5, 10]", "'area': 9"),
                                boxed(8, "[100, 0, 10, 10]", "'area': 9, 'iscrowd': 1"),
                                boxed(9, "[1, 1, 10, 0.5]", "'area': 9, 'iscrowd': 1"),
                                boxed(10, "[1, 1, 10, 10]", "'area': 0, 'iscrowd': 1"),
                                boxed(11, "[1, 1, 9, 9]", "'area': 9, 'iscrowd': 1, 'ignore': 1"),
                                boxed(12, "[-3, 2, 200, 7]", "'area': 9, 'iscrowd': 1")));

        Instances targets = TrainingTargets.boxes(dataset.image(0), dataset.annotations(0));
        assertEquals(Boxes.of(-5, 10, 25, 30, 1, 1, 100.5f, 11), targets.boxes());
        assertEquals(Boxes.of(1, 1, 11, 11, -3, 2, 197, 9), targets.ignored());
        assertFalse(targets.hasMasks());
        assertTrue(TrainingTargets.keeps(dataset.image(0), dataset.annotations(0).subList(3, 4)));
    }

    @Test
    void computesMissingAreasFromBoxes() throws IOException {
        CocoDataset dataset =
                open(
                        IMAGES,
                        CATEGORIES,
                        annotations(
                                boxed(1, "[1, 2, 3, 4]", "'area': NaN"),
                                boxed(2, "[1, 2, 3, 4]", "'ignore': 0")));
        dataset.annotations(0).forEach(annotation -> assertEquals(12, annotation.area()));
    }

    @Test
    void keepsAll64BitsOfIds() throws IOException {
        CocoDataset dataset =
                open(
                        "\"images\": ["
                                + pixel("9223372036854775807")
                                + ","
                                + pixel("9223372036854775806")
                                + ","
                                + pixel("12.0")
                                + "]",
                        "\"categories\": [{\"id\": 9007199254740993, \"name\": \"cat\"},"
                                + " {\"id\": 9007199254740992, \"name\": \"dog\"}]",
                        annotations(
                                identified("-9223372036854775808", "9223372036854775806"),
                                identified("-9223372036854775807", "9223372036854775806"),
                                identified("3e0", "12")));
        assertEquals(Long.MAX_VALUE, dataset.image(0).id());
        assertEquals(12, dataset.image(2).id());
        assertEquals(9007199254740993L, dataset.categoryId(0));
        assertEquals(List.of(), dataset.annotations(0));
        assertEquals(
                List.of(Long.MIN_VALUE, -Long.MAX_VALUE),
                dataset.annotations(1).stream().map(Annotation::id).toList());
        assertEquals(0, dataset.annotations(1).get(0).label());
        assertEquals(3, dataset.annotations(2).get(0).id());
    }

    private static String pixel(String id) {
        return String.format(
                Locale.ROOT, "{\"id\": %s, \"file_name\": \"a\", \"width\": 1, \"height\": 1}", id);
    }

    private static String identified(String id, String image) {
        return String.format(
                Locale.ROOT,
                "{'id': %s, 'image_id': %s, 'category_id': 9007199254740993, 'bbox': [0,0,1,1]}",
                id,
                image);
    }

    static List<Arguments> faults() {
        String image = "{'images': [{'id': %s, 'file_name': '%s', 'width': 1, 'height': 1}]}";
        String boxed = "{'annotations': [{'id': %s, 'image_id': 2, 'category_id': 3, 'bbox': %s}]}";
        String categories = "{'categories': [{'id': 1, 'name': 'a'}, {'id': 1, 'name': 'b'}]}";
        String flat = "{'annotations': [{'segmentation': [1, 2, 3, 4, 5, 6]}]}";
        return List.of(
                Arguments.of("{'images': [}", ":1:13: invalid JSON"),
                Arguments.of("{'images': [], 'annotations': [", "invalid JSON"),
                Arguments.of("{\0\0\0'\0\0\0\1\1\1\1", ":1:3: invalid JSON"),
                Arguments.of("{'a': 1,\n'info': " + "[".repeat(100_000), ":2:73: invalid JSON"),
                Arguments.of("{'info':" + "[".repeat(100_000), "nesting depth"),
                Arguments.of("{\n'info':" + "1".repeat(101) + "}", ".json:2:1"),
                Arguments.of("", "expected an object with images"),
                Arguments.of("[]", "expected an object with images"),
                Arguments.of("{'images': []}", "has no \"annotations\""),
                Arguments.of("{'images': 1e99}", "expected \"images\" to be an array"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "'x'", "a"),
                        "expected an integer, got \"x\""),
                Arguments.of(String.format(Locale.ROOT, image, "NaN", "a"), "an integer, got NaN"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "9223372036854775808", "a"),
                        "of at most 64 bits"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "1e19", "a"), "an integer, got 1e19"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "1", "../a"),
                        "is outside the image folder"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "1", "/etc/passwd"),
                        "is outside the image folder"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "1", "a\\u0000"),
                        "is outside the image folder"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "1", "../\\u001b[2J"),
                        "../\\u001b[2J\" is outside"),
                Arguments.of(
                        String.format(Locale.ROOT, image, "1", "../" + "a".repeat(9999)), "aaa..."),
                Arguments.of(
                        String.format(Locale.ROOT, boxed, "1", "[0,0,1,1]"),
                        "refers to image 2," + " which does not exist"),
                Arguments.of(
                        String.format(Locale.ROOT, boxed, "1", "[0,0,1,1]"),
                        "refers to category 3, which does not exist"),
                Arguments.of(
                        String.format(Locale.ROOT, boxed, "1", "[0,NaN,1,1]"), "is not finite"),
                Arguments.of(
                        String.format(Locale.ROOT, boxed, "1", "[0,1,1]"), "bbox has 3 numbers"),
                Arguments.of(
                        String.format(Locale.ROOT, boxed, "1.5", "[0,0,1,1]"),
                        "an integer, got 1.5"),
                Arguments.of(flat, "list of polygons, got 1"),
                Arguments.of(categories, "category 1: id occurs twice"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void namesEveryFaultAndItsPosition(String json, String message) throws IOException {
        Path file = folder.resolve("bad.json");
        Files.writeString(file, json.replace('\'', '"'));

        SaccadeException thrown =
                assertThrows(
                        SaccadeException.class, () -> CocoDataset.open(file, folder, List.of()));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains(message), thrown.getMessage());
        assertTrue(thrown.getMessage().contains("bad.json"), thrown.getMessage());
    }

    @Test
    void suggestsTheCategoriesForAnUnknownClass() throws IOException {
        Path json = write(IMAGES, CATEGORIES, annotations());
        SaccadeException thrown =
                assertThrows(
                        SaccadeException.class,
                        () -> CocoDataset.open(json, folder, List.of("horse")));
        assertTrue(thrown.getMessage().contains("\"horse\""), thrown.getMessage());
        assertTrue(thrown.getMessage().contains("[cat, dog, cow]"), thrown.getMessage());
    }

    @Test
    void emptyFilesHaveNothingToTrainOn() throws IOException {
        assertNothing("no images and no categories", "\"images\": []", "\"categories\": []");
        assertNothing("no images", "\"images\": []", CATEGORIES);
        assertNothing("no categories", IMAGES, "\"categories\": []");
        assertNothing("none of 2 images contains a cat, a dog, a cow", IMAGES, CATEGORIES);
    }

    private void assertNothing(String expected, String images, String categories)
            throws IOException {
        CocoDataset dataset = open(images, categories, annotations());
        SaccadeException thrown =
                assertThrows(
                        SaccadeException.class,
                        () -> DataLoader.training(dataset, List.of(), TargetKind.BOXES, 1, 1, 0));
        assertTrue(thrown.getMessage().endsWith(expected), thrown.getMessage());
    }

    @Test
    void isRegisteredByName() {
        assertEquals(
                CocoDataset.Config.class, Configs.registered(Dataset.Config.class).get("coco"));
    }

    @Test
    void needsLittleMemoryForManyAnnotations() throws IOException {
        int count = 200_000;
        StringBuilder json = new StringBuilder("{" + IMAGES + "," + CATEGORIES);
        json.append(",\"annotations\":[");
        for (int i = 0; i < count; i++) {
            json.append(i == 0 ? "" : ",")
                    .append("{\"id\":")
                    .append(i)
                    .append(",\"image_id\":42,\"category_id\":1,\"area\":10,\"bbox\":[1,1,9,9],")
                    .append("\"segmentation\":[[10.25,10.5,20.75,10.5,20.75,20.25,11,19.5]]}");
        }
        Path file = folder.resolve("many.json");
        Files.writeString(file, json.append("]}"));

        long before = usedMemory();
        CocoDataset dataset = CocoDataset.open(file, folder, List.of());
        double bytesEach = (double) (usedMemory() - before) / count;
        assertEquals(2, dataset.size());
        assertTrue(bytesEach < 150, bytesEach + " bytes an annotation");
    }

    private static long usedMemory() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private CocoDataset open(String... sections) throws IOException {
        return CocoDataset.open(write(sections), folder, List.of());
    }

    private Path write(String... sections) throws IOException {
        Path file = folder.resolve("annotations.json");
        return Files.writeString(file, "{" + String.join(",", sections) + "}");
    }

    private static String annotations(String... elements) {
        return "\"annotations\": [" + String.join(",", elements).replace('\'', '"') + "]";
    }

    private static String outlined(int id, String segmentation) {
        return boxed(id, "[0,0,9,9]", "'area': 1, 'segmentation': " + segmentation);
    }

    private static String boxed(int id, String box, String more) {
        return Text.format(
                "{'id': %d, 'image_id': 42, 'category_id': 3, 'bbox': %s, %s}", id, box, more);
    }
}
