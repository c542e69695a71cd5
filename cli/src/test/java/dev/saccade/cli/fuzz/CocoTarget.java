package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.coco.CocoDataset;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * COCO's annotation files. The check throws nothing and finds a fault in all that is refused; what
 * is accepted is the same when it is written and read again.
 */
final class CocoTarget implements FuzzTarget {

    private static final Path FILE = Path.of("annotations.json");
    private static final Path IMAGES = Path.of("images");
    private static final CheckOptions HEADERS =
            new CheckOptions(false, TargetKind.MASKS, 1, () -> {});
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public String name() {
        return "coco";
    }

    @Override
    public Format format() {
        return Format.TEXT;
    }

    @Override
    public List<byte[]> seeds() {
        return Texts.all(
                """
                {"info": {"year": 2017}, "licenses": [],
                 "images": [
                  {"id": 1, "file_name": "a.jpg", "width": 80, "height": 60, "license": 3},
                  {"id": 7, "file_name": "b/c.png", "width": 40, "height": 30}],
                 "annotations": [
                  {"id": 5, "image_id": 1, "category_id": 18, "bbox": [1.5, 2, 30, 20.25],
                   "area": 300.5, "iscrowd": 0, "segmentation": [[1.5, 2, 31.5, 2, 20, 22.25]]},
                  {"id": 6, "image_id": 7, "category_id": 2, "bbox": [0, 0, 40, 30], "area": 600,
                   "iscrowd": 1, "segmentation": {"size": [30, 40], "counts": [500, 200, 500]}},
                  {"id": 8, "image_id": 7, "category_id": 2, "bbox": [5, 5, 1e1, 1e1]}],
                 "categories": [
                  {"id": 2, "name": "cat", "supercategory": "animal"}, {"id": 18, "name": "dog"}]}
                """,
                """
                {"categories": [{"id": 1, "name": "x"}],
                 "images": [{"id": 9, "file_name": "a.jpg", "width": 4, "height": 3}],
                 "annotations": [
                  {"id": 1, "image_id": 9, "category_id": 1, "bbox": [0, 0, 4, 3], "ignore": true,
                   "segmentation": {"counts": "52203", "size": [3, 4]}},
                  {"id": 2, "image_id": 9, "category_id": 1, "bbox": [0, 0, 2, 2], "iscrowd": false,
                   "segmentation": [[0, 0, 2.123456, 0, 2, 2, 0, 2], [3, 0, 4, 0, 4, 1]]},
                  {"id": 3, "image_id": 9, "category_id": 1, "bbox": [1, 1, 2, 2],
                   "segmentation": null}]}
                """,
                "{\"images\": [], \"annotations\": [], \"categories\": []}");
    }

    @Override
    public List<byte[]> words() {
        return Texts.split(
                "\"id\": |\"image_id\": |\"category_id\": |\"bbox\": [|"
                        + "\"segmentation\": |\"counts\": |\"size\": [|\"iscrowd\": 1|"
                        + "\"images\": [|\"annotations\": [|\"file_name\": \"/etc/passwd\"|"
                        + "\"width\": 2147483647|\"height\": 1");
    }

    @Override
    public void enter(byte[] input) throws IOException {
        Files.write(FILE, input);
        DatasetReport report =
                new CocoDataset.Config(FILE.toString(), IMAGES.toString(), List.of())
                        .check(Path.of(""), HEADERS);
        CocoDataset dataset;
        try {
            dataset = CocoDataset.open(FILE, IMAGES, List.of());
        } catch (SaccadeException e) {
            assertTrue(report.errors() > 0, "refused, but nothing is wrong with it");
            throw e;
        }
        drawMasks(dataset);
        byte[] once = written(dataset);
        Files.write(FILE, once);
        byte[] twice = written(CocoDataset.open(FILE, IMAGES, List.of()));
        assertEquals(Texts.of(once), Texts.of(twice));
    }

    private static void drawMasks(Dataset dataset) {
        for (int i = 0; i < dataset.size(); i++) {
            for (Annotation annotation : dataset.annotations(i)) {
                try {
                    annotation.segmentation().mask(dataset.image(i).size());
                } catch (SaccadeException e) {
                    assertEquals(SaccadeException.Kind.USER, e.kind());
                }
            }
        }
    }

    private static byte[] written(Dataset dataset) throws IOException {
        List<Object> images = new ArrayList<>();
        List<Object> annotations = new ArrayList<>();
        List<Object> categories = new ArrayList<>();
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile photo = dataset.image(i);
            images.add(
                    Map.of(
                            "id", photo.id(),
                            "file_name", IMAGES.relativize(photo.file()).toString(),
                            "width", photo.size().width(),
                            "height", photo.size().height()));
            for (Annotation annotation : dataset.annotations(i)) {
                annotations.add(written(annotation, photo, dataset));
            }
        }
        for (int label = 0; label < dataset.classes().size(); label++) {
            String name = dataset.classes().get(label);
            categories.add(Map.of("id", dataset.categoryId(label), "name", name));
        }
        return JSON.writeValueAsBytes(
                ImmutableMap.of(
                        "images", images, "annotations", annotations, "categories", categories));
    }

    private static Map<String, Object> written(Annotation shown, ImageFile photo, Dataset dataset) {
        ImmutableMap.Builder<String, Object> fields = ImmutableMap.builder();
        fields.put("id", shown.id()).put("image_id", photo.id());
        fields.put("category_id", dataset.categoryId(shown.label()));
        Annotation.Bbox box = shown.box();
        fields.put("bbox", List.of(box.x(), box.y(), box.width(), box.height()));
        fields.put("area", shown.area()).put("iscrowd", shown.crowd() ? 1 : 0);
        fields.put("ignore", shown.ignore());
        if (shown.segmentation() instanceof Segmentation.Polygons polygons) {
            fields.put("segmentation", polygons.rings());
        } else if (shown.segmentation() instanceof Segmentation.Runs runs) {
            List<Integer> size = List.of(runs.size().height(), runs.size().width());
            fields.put("segmentation", Map.of("size", size, "counts", runs.counts()));
        }
        return fields.buildOrThrow();
    }
}
