package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.zoo.PretrainedWeights;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
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
import java.util.Map;
import java.util.stream.IntStream;

/** Runs the commands of {@code fine_tuning.md} with a small model and small images. */
class FineTuningPageTest {

    private static final List<String> CONFIG_COMMANDS =
            List.of("config", "check", "browse", "train");

    private static final List<String> SMALL =
            List.of(
                    "model.backbone.stem_channels=4",
                    "model.backbone.base_channels=4",
                    "model.neck.out_channels=8",
                    "model.head.rpn_head.feat_channels=8",
                    "model.head.bbox_head.conv_out_channels=8",
                    "model.head.bbox_head.fc_out_channels=16",
                    "model.head.mask_head.conv_out_channels=8",
                    "data.train_transforms=[{type: normalize}, {type: pad}]",
                    "data.val_transforms=[{type: normalize}, {type: pad}]",
                    "epochs=2");

    private static final String COCO = "maskrcnn_resnet50_fpn_v2";

    /** Weights without a published size, so that a small file replaces them. */
    private static final String REPLACED = "mask_rcnn_resnet50_fpn_1x_coco";

    private static final List<String> SCENE_CLASSES = List.of("button", "coin", "key", "leaf");
    private static final List<String> CLASSES = List.of("hammer", "pliers", "wrench", "chisel");

    @TempDir Path folder;

    private PageRun page;

    @BeforeEach
    void prepare() throws IOException {
        SceneRenderer renderer = new SceneRenderer(1, new Size(64, 96));
        SceneDataset.write(folder.resolve("data/tools"), renderer, 12, 4, n -> {});
        for (String part : List.of("train", "val")) {
            Path file = folder.resolve("data/tools/annotations_" + part + ".json");
            String annotations = Files.readString(file);
            for (int i = 0; i < CLASSES.size(); i++) {
                annotations =
                        annotations.replace(
                                '"' + SCENE_CLASSES.get(i) + '"', '"' + CLASSES.get(i) + '"');
            }
            Files.writeString(file, annotations);
        }
        Files.copy(folder.resolve("data/tools/images/scene_0001.jpg"), folder.resolve("photo.jpg"));
        page = PageRun.in(folder, "fine_tuning.md");
    }

    @Test
    void thePageTrainsADetectorWithMasks() throws Exception {
        PretrainedWeights coco = PretrainedWeights.named(REPLACED);
        writeCocoDetector(Files.createDirectory(folder.resolve("mirror")).resolve(coco.file()));
        System.setProperty("SACCADE_CACHE", folder.resolve("cache").toString());
        try {
            page.run(this::quick);
        } finally {
            System.clearProperty("SACCADE_CACHE");
        }
        assertEquals(2, page.outputs().size(), "outputs on the page");
        for (String file :
                List.of("runs/tools_masks/report.html", "found/photo.jpg", "browse/index.html")) {
            assertTrue(Files.exists(folder.resolve(file)), file);
        }
        JsonNode image = new ObjectMapper().readTree(Files.readString(predictions())).get(0);
        assertFalse(image.get("objects").isEmpty(), "no detections");
        for (JsonNode object : image.get("objects")) {
            String label = object.get("label").asText();
            assertTrue(CLASSES.contains(label), label);
            assertEquals("[64,96]", object.get("segmentation").get("size").toString());
        }
    }

    private Path predictions() {
        return folder.resolve("found/predictions.json");
    }

    @Test
    void checkFindsTheFrequentErrorsOfThePage() throws IOException {
        String right = Files.readString(folder.resolve("data/tools/example.json"));
        Mat image = new Mat(480, 640, CvType.CV_8UC3, new Scalar(90, 90, 90));
        ImageFiles.write(image, folder.resolve("data/tools/images/workbench.jpg"));
        image.release();

        assertEquals(
                "  0 errors, 0 warnings",
                checked(right).strip().lines().skip(3).findFirst().orElse(""));
        for (String wrong :
                List.of(
                        right.replace("[400, 300, 60, 50]", "[400, 300, 460, 350]"),
                        right.replace(
                                "\"width\": 640, \"height\": 480",
                                "\"width\": 1280, \"height\": 960"),
                        right.replaceFirst("\"segmentation\".*", "\"segmentation\": []"))) {
            String found = checked(wrong);
            assertEquals(1, page.quotesIn(found).size(), found);
        }
    }

    private String checked(String annotations) throws IOException {
        Files.writeString(folder.resolve("data/tools/example.json"), annotations);
        return saccade(
                        "check",
                        folder.resolve("tools_masks.yaml"),
                        "--data",
                        folder.resolve("data/tools"),
                        "--set",
                        "data.train.annotations=example.json")
                .out();
    }

    /** Writes a small, untrained model in place of torchvision's checkpoint. */
    private void writeCocoDetector(Path file) {
        RunConfig config =
                Configs.bind(
                        ConfigFile.load(folder.resolve("tools_masks.yaml"), SMALL),
                        RunConfig.class);
        List<String> classes = IntStream.range(0, 80).mapToObj(i -> "class " + i).toList();
        try (NDManager manager = NDManager.newBaseManager()) {
            DetectionModel detector = new DetectionModel(config.model(), classes);
            detector.initialize(manager, 5);
            Checkpoints.save(file, Checkpoint.of(detector, Map.of()));
        }
    }

    private static String file(String weights) {
        return PretrainedWeights.named(weights).require().toString();
    }

    /** Shortens a command, and lowers the minimum score because the model is barely trained. */
    private List<String> quick(List<String> words) {
        List<String> quick = new ArrayList<>(words);
        String command = words.get(1);
        if (command.equals("weights")) {
            quick.replaceAll(word -> word.equals(COCO) ? REPLACED : word);
            quick.addAll(List.of("--from", folder.resolve("mirror").toString()));
        }
        if (command.equals("train")) {
            quick.replaceAll(word -> word.equals(COCO) ? file(REPLACED) : word);
        }
        if (CONFIG_COMMANDS.contains(command)) {
            SMALL.forEach(setting -> quick.addAll(List.of("--set", setting)));
            quick.addAll(List.of("--data", folder.resolve("data/tools").toString()));
        }
        if (command.equals("browse")) {
            quick.addAll(List.of("--out", folder.resolve("browse").toString()));
        }
        if (command.equals("train") && !words.contains("--out")) {
            quick.addAll(List.of("--out", folder.resolve("runs/tools_masks").toString()));
        }
        if (command.equals("predict")) {
            quick.addAll(List.of("--score", "0.05"));
        }
        return quick;
    }
}
