package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.Detector;
import dev.saccade.serve.PredictionServer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs the commands of {@code train_on_your_data.md} with a small model and small images. */
class TrainOnYourDataPageTest {

    private static final List<String> SMALL =
            List.of(
                    "model.backbone.stem_channels=4",
                    "model.backbone.base_channels=4",
                    "model.neck.out_channels=8",
                    "model.head.feat_channels=8",
                    "epochs=2");

    private static final Pattern CURL =
            Pattern.compile(
                    "^curl --data-binary @(\\S+) 'localhost:8080(\\S+)'$", Pattern.MULTILINE);

    @TempDir Path folder;

    private PageRun page;
    private PredictionServer server;
    private Detector detector;

    @BeforeEach
    void prepare() throws IOException {
        Path coco = folder.resolve("coco");
        SceneDataset.write(coco, new SceneRenderer(1, new Size(64, 96)), 12, 4, n -> {});
        Path yolo = folder.resolve("data/tools-yolo");
        for (String part : List.of("train", "val")) {
            writeYolo(coco, part, yolo);
        }
        Files.writeString(
                yolo.resolve("data.yaml"),
                "train: images/train\nval: images/val\nnames: [hammer, pliers, wrench, chisel]\n");
        Files.copy(coco.resolve("images/scene_0001.jpg"), folder.resolve("photo.jpg"));
        page = PageRun.in(folder, "train_on_your_data.md");
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
            detector.close();
        }
    }

    private static void writeYolo(Path coco, String part, Path yolo) throws IOException {
        CocoDataset labeled =
                new CocoDataset.Config("annotations_" + part + ".json", "images", List.of())
                        .open(coco);
        Path photos = Files.createDirectories(yolo.resolve("images/" + part));
        Path labels = Files.createDirectories(yolo.resolve("labels/" + part));
        for (int i = 0; i < labeled.size(); i++) {
            Path photo = labeled.images().get(i).file();
            String name = photo.getFileName().toString();
            Files.copy(photo, photos.resolve(name));
            Files.writeString(labels.resolve(name.replace(".jpg", ".txt")), lines(labeled, i));
        }
    }

    private static String lines(CocoDataset labeled, int index) {
        double width = labeled.images().get(index).size().width();
        double height = labeled.images().get(index).size().height();
        StringBuilder lines = new StringBuilder();
        for (Annotation object : labeled.annotations(index)) {
            Annotation.Bbox box = object.box();
            lines.append(
                    Text.format(
                            "%d %.6f %.6f %.6f %.6f%n",
                            object.label(),
                            (box.x() + box.width() / 2) / width,
                            (box.y() + box.height() / 2) / height,
                            box.width() / width,
                            box.height() / height));
        }
        return lines.toString();
    }

    @Test
    void thePageTrainsADetectorAndServesIt() throws Exception {
        page.run(this::quick);
        assertEquals(1, page.outputs().size(), "outputs on the page");
        for (String file :
                List.of(
                        "browse/index.html",
                        "runs/tools/report.html",
                        "found/photo.jpg",
                        "found/predictions.json")) {
            assertTrue(Files.exists(folder.resolve(file)), file);
        }
        HttpResponse<String> response = curl();
        assertEquals(200, response.statusCode());
        assertTrue(
                response.body()
                        .contains("[{\"image\":\"image\",\"width\":96,\"height\":64,\"objects\":["),
                response.body());
    }

    /** Shortens training and writes files into the test folder. */
    private List<String> quick(List<String> words) {
        List<String> quick = new ArrayList<>(words);
        switch (words.get(1)) {
            case "new" -> quick.addAll(List.of("--out", folder.resolve("tools.yaml").toString()));
            case "browse" -> quick.addAll(List.of("--out", folder.resolve("browse").toString()));
            case "train" -> {
                SMALL.forEach(setting -> quick.addAll(List.of("--set", setting)));
                quick.addAll(List.of("--out", folder.resolve("runs/tools").toString()));
            }
            default -> {}
        }
        return quick;
    }

    /** Serves the model and sends the request of the {@code curl} command. */
    private HttpResponse<String> curl() throws IOException, InterruptedException {
        Matcher command = CURL.matcher(page.text());
        assertTrue(command.find(), "the page has no curl command");
        detector = Detector.load(folder.resolve("runs/tools/checkpoints/best.safetensors"));
        server = PredictionServer.of(detector).port(0).start();
        HttpRequest request =
                HttpRequest.newBuilder(server.uri().resolve(command.group(2)))
                        .POST(BodyPublishers.ofFile(folder.resolve(command.group(1))))
                        .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }
}
