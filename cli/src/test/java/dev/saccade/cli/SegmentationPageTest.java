package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.IndexPng;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.models.Model;
import dev.saccade.models.draw.Jpeg;
import dev.saccade.models.zoo.PretrainedWeights;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Runs the commands of {@code segmentation.md} with a small model and small images of roads. */
class SegmentationPageTest {

    private static final Size SIZE = new Size(48, 64);

    private static final List<String> SMALL =
            List.of(
                    "model.backbone.stem_channels=4",
                    "model.backbone.base_channels=4",
                    "model.neck.out_channels=8",
                    "model.head.channels=8",
                    "data.train_transforms=[{type: normalize}, {type: pad}]",
                    "data.val_transforms=[{type: resize, scales: [[64, 48]]}, {type: normalize}]",
                    "iterations=4");

    private static final String ADE20K = "semantic_fpn_resnet50_160k_ade20k";
    private static final String IMAGENET = "resnet50_v1c";

    @TempDir Path folder;

    private PageRun page;

    @BeforeEach
    void prepare() throws IOException {
        OpenCv.load();
        for (int i = 0; i < 12; i++) {
            draw(i);
        }
        page = PageRun.in(folder, "segmentation.md");
    }

    /** Draws a sky over a road with a car, and its mask in the colors of the page. */
    private void draw(int i) {
        Path masks = folder.resolve("data/roads-masks");
        String name = (i < 8 ? "train/road" : "val/road") + i;
        Mat image = image(i);
        ImageFiles.write(image, masks.resolve("images/" + name + ".jpg"));
        ImageFiles.write(image, folder.resolve("photo.jpg"));
        image.release();
        Mat labels =
                paint(i, new Scalar(180, 130, 70), new Scalar(128, 64, 128), new Scalar(142, 0, 0));
        labels.rowRange(0, 4).setTo(new Scalar(0, 0, 0));
        ImageFiles.write(labels, masks.resolve("masks/" + name + ".png"));
        labels.release();
    }

    private static Mat image(int i) {
        return paint(i, new Scalar(220, 180, 120), new Scalar(90, 90, 90), new Scalar(40, 60, 200));
    }

    private static String name(int i) {
        return (i < 8 ? "training/road" : "validation/road") + i;
    }

    private static Mat paint(int i, Scalar sky, Scalar road, Scalar car) {
        Mat image = new Mat(SIZE.height(), SIZE.width(), CvType.CV_8UC3, sky);
        image.rowRange(20, SIZE.height()).setTo(road);
        image.submat(24, 40, 4 * i, 4 * i + 16).setTo(car);
        return image;
    }

    @Test
    void thePageTrainsASegmenter() throws Exception {
        List<String> classes = IntStream.range(0, 150).mapToObj(i -> "class " + i).toList();
        Checkpoint ade20k = untrained(classes);
        Path mirror = Files.createDirectory(folder.resolve("mirror"));
        Checkpoints.save(mirror.resolve(PretrainedWeights.named(ADE20K).file()), ade20k);
        Checkpoints.save(
                mirror.resolve(PretrainedWeights.named(IMAGENET).file()), ade20k.part("backbone"));
        System.setProperty("SACCADE_CACHE", folder.resolve("cache").toString());
        String printed;
        try {
            printed = page.run(this::quick);
        } finally {
            System.clearProperty("SACCADE_CACHE");
        }

        assertEquals(2, page.outputs().size(), "outputs on the page");
        assertTrue(printed.contains("train: 9 label maps, "), printed);
        JsonNode image =
                new ObjectMapper()
                        .readTree(Files.readString(folder.resolve("found/predictions.json")))
                        .get(0);
        long pixels = 0;
        for (JsonNode region : image.get("regions")) {
            String label = region.get("label").asText();
            assertTrue(List.of("sky", "road", "car").contains(label), label);
            pixels += region.get("pixels").asLong();
        }
        assertEquals(SIZE.area(), pixels);
        assertEquals(SIZE, IndexPng.read(folder.resolve("found/labels/photo.png")).size());
        for (String file :
                List.of("runs/roads/report.html", "found/photo.jpg", "browse/index.html")) {
            assertTrue(Files.exists(folder.resolve(file)), file);
        }
    }

    @Test
    void checkFindsTheFrequentErrorsOfThePage() throws Throwable {
        Path roads = Files.createDirectories(folder.resolve("data/roads"));
        Files.writeString(roads.resolve("classes.txt"), "sky\nroad\ncar\n");
        for (int i = 0; i < 12; i++) {
            Mat image = image(i);
            ImageFiles.write(image, folder.resolve("data/roads/images/" + name(i) + ".jpg"));
            image.release();
            Path labels = folder.resolve("data/roads/annotations/" + name(i) + ".png");
            ImageFiles.writeLabels(LabelMap.filled(SIZE, 1), 3, labels);
        }
        assertEquals(List.of(), page.quotesIn(checked()));
        Path labels = folder.resolve("data/roads/annotations/" + name(1) + ".png");
        Mat photo = ImageReader.read(folder.resolve("photo.jpg"));
        List<Executable> mistakes =
                List.of(
                        () -> ImageFiles.write(photo, labels),
                        () -> ImageFiles.writeLabels(LabelMap.filled(SIZE, 4), 5, labels),
                        () ->
                                ImageFiles.writeLabels(
                                        LabelMap.filled(new Size(24, 32), 1), 3, labels),
                        () -> Files.delete(labels),
                        () -> Files.write(labels, Jpeg.encode(photo)));
        for (Executable mistake : mistakes) {
            mistake.execute();
            String found = checked();
            assertEquals(1, page.quotesIn(found).size(), found);
        }
        photo.release();
    }

    private String checked() {
        Path roads = folder.resolve("data/roads");
        return saccade("check", folder.resolve("roads.yaml"), "--data", roads).out();
    }

    private Checkpoint untrained(List<String> classes) {
        RunConfig config =
                Configs.bind(ConfigFile.load(folder.resolve("roads.yaml"), SMALL), RunConfig.class);
        try (NDManager manager = NDManager.newBaseManager()) {
            Model<?> model = config.model().build(classes);
            model.initialize(manager, 5);
            return Checkpoint.of(model, Map.of());
        }
    }

    private static String file(String weights) {
        return PretrainedWeights.named(weights).require().toString();
    }

    private List<String> quick(List<String> words) {
        List<String> quick = new ArrayList<>(words);
        String command = words.get(1);
        if (command.equals("weights")) {
            quick.addAll(List.of("--from", folder.resolve("mirror").toString()));
        }
        if (command.equals("train")) {
            // Weights given by name must have the listed size; files need not.
            quick.replaceAll(word -> List.of(ADE20K, IMAGENET).contains(word) ? file(word) : word);
        }
        if (List.of("config", "check", "browse", "train").contains(command)) {
            SMALL.forEach(setting -> quick.addAll(List.of("--set", setting)));
            quick.addAll(List.of("--data", folder.resolve("data/roads").toString()));
        }
        if (command.equals("browse")) {
            quick.addAll(List.of("--out", folder.resolve("browse").toString()));
        }
        if (command.equals("train") && !words.contains("--out")) {
            quick.addAll(List.of("--out", folder.resolve("runs/roads").toString()));
        }
        return quick;
    }
}
