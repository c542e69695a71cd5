package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Writes configs for folders in all layouts. */
class NewCommandTest {

    private static final Size SIZE = new Size(48, 64);

    @TempDir Path folder;

    private RunConfig made(Path data) {
        Path file = folder.resolve("made.yaml");
        CommandResult ended = saccade("new", data, "--out", file, "--force");
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.err().contains("./saccade train " + file), ended.err());
        return RunConfig.load(file);
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** Writes annotations with a box on the first image. */
    private static void writeCoco(Path file, List<String> names) throws IOException {
        StringBuilder images = new StringBuilder();
        for (int i = 0; i < names.size(); i++) {
            images.append(i == 0 ? "" : ",")
                    .append(
                            Text.format(
                                    "{\"id\": %d, \"file_name\": \"%s\", \"width\": 64, \"height\": 48}",
                                    i, names.get(i)));
        }
        write(
                file,
                String.format(
                        Locale.ROOT,
                        """
                {"images": [%s],
                 "categories": [{"id": 1, "name": "bolt"}, {"id": 2, "name": "never seen"}],
                 "annotations": [{"id": 1, "image_id": 0, "category_id": 1, "iscrowd": 0,
                                  "bbox": [4, 4, 20, 10], "area": 200}]}
                """,
                        images));
    }

    private static void paint(Path file) {
        OpenCv.load();
        Mat photo = new Mat(SIZE.height(), SIZE.width(), CvType.CV_8UC3, new Scalar(9, 90, 200));
        ImageFiles.write(photo, file);
        photo.release();
    }

    private static String part(Optional<? extends Dataset.Config> part) {
        return part.map(
                        found ->
                                ConfigWriter.yaml(Configs.unbindChanges((Record) found))
                                        .replace("\n", ", "))
                .orElse("none");
    }

    @Test
    void generatedConfigTrains() {
        Path data = folder.resolve("sce nes");
        SceneDataset.write(data, new SceneRenderer(1, new Size(64, 96)), 12, 4, n -> {});
        Path file = folder.resolve("scenes.yaml");
        assertEquals(0, saccade("check", data).code());
        assertTrue(saccade("check", data).err().contains("./saccade new '" + data + "'"));
        assertEquals(0, saccade("new", data, "--out", file).code());
        CommandResult again = saccade("new", data, "--out", file);
        assertEquals(2, again.code());
        assertTrue(again.err().contains("already exists"), again.err());

        List<Object> train =
                new ArrayList<>(List.of("train", file, "--epochs", 1, "--image-size", "96x64"));
        for (String setting :
                List.of(
                        "model.backbone.stem_channels=4",
                        "model.backbone.base_channels=4",
                        "model.neck.out_channels=8",
                        "model.head.rpn_head.feat_channels=8",
                        "model.head.bbox_head.fc_out_channels=16",
                        "model.head.mask_head.conv_out_channels=8")) {
            train.addAll(List.of("--set", setting));
        }
        train.addAll(List.of("--out", folder.resolve("run")));
        CommandResult trained = saccade(train.toArray());
        assertEquals(0, trained.code(), trained.err());
        assertTrue(trained.out().contains("mask"), trained.out());
    }

    @Test
    void findsCocoLayouts() throws IOException {
        Path roboflow = folder.resolve("robo flow");
        for (String part : List.of("train", "valid", "test")) {
            writeCoco(roboflow.resolve(part + "/_annotations.coco.json"), List.of(part + " ü.jpg"));
            paint(roboflow.resolve(part + "/" + part + " ü.jpg"));
        }
        RunConfig found = made(roboflow);
        assertEquals(
                "type: coco, annotations: train/_annotations.coco.json, images: train, ",
                part(found.data().train()));
        assertEquals(
                "type: coco, annotations: valid/_annotations.coco.json, images: valid, ",
                part(found.data().val()));

        Path coco = folder.resolve("coco");
        for (String part : List.of("train2017", "val2017")) {
            writeCoco(
                    coco.resolve("annotations/instances_" + part + ".json"),
                    List.of("1.jpg", part + ".jpg"));
            writeCoco(coco.resolve("annotations/captions_" + part + ".json"), List.of("1.jpg"));
            paint(coco.resolve(part + "/1.jpg"));
            paint(coco.resolve(part + "/" + part + ".jpg"));
        }
        found = made(coco);
        assertEquals(
                "type: coco, ", part(found.data().train()), "COCO's own layout is the default");
        assertEquals(
                "type: coco, annotations: annotations/instances_val2017.json, images: val2017, ",
                part(found.data().val()));

        Path single = folder.resolve("single");
        writeCoco(single.resolve("labels.json"), List.of("a.jpg"));
        paint(single.resolve("a.jpg"));
        found = made(single);
        assertEquals(
                "type: coco, annotations: labels.json, images: \"\", ", part(found.data().train()));
        assertEquals("none", part(found.data().val()));
        writeCoco(single.resolve("more.json"), List.of("a.jpg"));
        CommandResult unclear = saccade("new", single, "--out", folder.resolve("x.yaml"));
        assertEquals(2, unclear.code());
        assertTrue(unclear.err().contains("the training set is ambiguous"), unclear.err());
    }

    /** Only the first image is valid, so reading another one would fail. */
    @Test
    void readsNoImages() throws IOException {
        Path data = folder.resolve("large");
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            names.add(i + ".jpg");
            write(data.resolve("images/" + i + ".jpg"), "" + i);
        }
        writeCoco(data.resolve("train.json"), names);
        paint(data.resolve("images/0.jpg"));
        RunConfig found = made(data);
        assertEquals(
                "type: coco, annotations: train.json, images: images, ",
                part(found.data().train()));
        assertEquals(12, found.epochs());
        String text = Files.readString(folder.resolve("made.yaml"));
        assertTrue(text.contains("5000 images"), text);
        assertTrue(text.contains("2 classes: bolt 1, never seen 0; 1 without objects."), text);
    }

    @Test
    void findsLabelMapLayouts() throws IOException {
        Path roads = folder.resolve("roads");
        for (String part : List.of("train", "val")) {
            paint(roads.resolve("images/" + part + "/a.b.jpg"));
            ImageFiles.writeLabels(
                    LabelMap.filled(SIZE, 1), 3, roads.resolve("masks/" + part + "/a.b_mask.png"));
        }
        write(roads.resolve("classes.txt"), "sky\nroad\ncar\n");
        RunConfig found = made(roads);
        assertEquals(
                "type: ade20k, images: images/train, annotations: masks/train, classes_file: classes.txt,"
                        + " label_suffix: _mask.png, ",
                part(found.data().train()));
        assertEquals(
                LabelMap.filled(SIZE, 1), found.data().val().orElseThrow().open(roads).labels(0));
    }

    @Test
    void mergesFoldersOfCities() throws IOException {
        Path cities = folder.resolve("cities");
        for (String city : List.of("train/bonn", "train/ulm", "val/jena")) {
            paint(cities.resolve("images/" + city + "/a.jpg"));
            ImageFiles.writeLabels(
                    LabelMap.filled(SIZE, 1), 3, cities.resolve("annotations/" + city + "/a.png"));
        }
        write(cities.resolve("classes.txt"), "sky\nroad\ncar\n");
        RunConfig found = made(cities);
        assertEquals(2, found.data().requireTrain().open(cities).size());
        assertEquals(1, found.data().val().orElseThrow().open(cities).size());
    }

    @Test
    void rejectsScatteredLabelMaps() throws IOException {
        Path places = folder.resolve("places");
        for (String place : List.of("train_a", "train_b")) {
            paint(places.resolve(place + "/images/a.jpg"));
            ImageFiles.writeLabels(
                    LabelMap.filled(SIZE, 1), 3, places.resolve(place + "/masks/a.png"));
        }
        CommandResult ended = saccade("new", places, "--out", folder.resolve("z.yaml"));
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("train_a/masks, train_b/masks"), ended.err());
    }

    @Test
    void rejectsLabelMapsWithoutClasses() throws IOException {
        Path empty = folder.resolve("none");
        paint(empty.resolve("images/a.jpg"));
        Mat black = new Mat(SIZE.height(), SIZE.width(), CvType.CV_8UC1, new Scalar(0));
        ImageFiles.write(black, empty.resolve("masks/a.png"));
        black.release();
        CommandResult ended = saccade("new", empty, "--out", folder.resolve("y.yaml"));
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("contain only 0 and 255"), ended.err());
        assertFalse(Files.exists(folder.resolve("y.yaml")));
    }

    @Test
    void rejectsMissingImages() throws IOException {
        Path data = folder.resolve("incomplete");
        writeCoco(data.resolve("train.json"), List.of("a.jpg", "missing.jpg"));
        paint(data.resolve("images/a.jpg"));
        CommandResult ended = saccade("new", data, "--out", folder.resolve("x.yaml"));
        assertEquals(2, ended.code(), ended.err());
        assertTrue(ended.err().contains("missing.jpg: image 1: no such file"), ended.err());
        assertFalse(Files.exists(folder.resolve("x.yaml")));
    }
}
