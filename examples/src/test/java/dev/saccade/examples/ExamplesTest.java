package dev.saccade.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Mat;
import org.opencv.videoio.VideoWriter;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Runs all examples with a detector trained by the first one. */
class ExamplesTest {

    private static final Path CONFIG = Path.of("../configs/retinanet/resnet18_fpn_demo.yaml");
    private static final double MIN_SCORE = 0.005;

    private static final List<String> QUICK =
            List.of(
                    "epochs=1",
                    "data.image_size=[96, 64]",
                    "model.backbone.stem_channels=4",
                    "model.backbone.base_channels=4",
                    "model.neck.out_channels=8",
                    "model.head.feat_channels=8",
                    "model.head.nms.score_thr=0.0001");

    @TempDir static Path folder;
    private static Path scenes;
    private static Path checkpoint;

    @BeforeAll
    static void train() {
        scenes = folder.resolve("scenes");
        SceneDataset.write(scenes, new SceneRenderer(1, new Size(64, 96)), 8, 4, n -> {});
        checkpoint = FineTuneThenServe.fineTune(CONFIG, scenes, folder.resolve("run"), QUICK);
    }

    private static Path photo(int number) {
        return scenes.resolve("images").resolve(Text.format("scene_%04d.jpg", number));
    }

    private static long sure(List<DetectedObject> objects, String label) {
        return objects.stream()
                .filter(object -> object.score() >= MIN_SCORE && object.label().equals(label))
                .count();
    }

    @Test
    void tagsImages() {
        try (Detector detector = Detector.load(checkpoint)) {
            ImageTagger tagger = new ImageTagger(detector, MIN_SCORE);
            List<DetectedObject> found = detector.detect(photo(1), 0);
            Map<String, Long> tags = tagger.tags(photo(1));
            assertTrue(tags.size() > 0, "nothing was found");
            tags.forEach((label, count) -> assertEquals(sure(found, label), count));
        }
    }

    @Test
    void countsObjectsInFolder() throws IOException {
        try (Detector detector = Detector.load(checkpoint)) {
            List<String> table = table(detector, scenes.resolve("images"));
            assertEquals("frame,button,coin,key,leaf", table.get(0));
            assertEquals(1 + 12, table.size());
            assertEquals(
                    "scene_0002.jpg" + counts(detector, ImageSource.of(photo(2))), table.get(2));
        }
    }

    @Test
    void countsObjectsInVideo() throws IOException {
        Path video = folder.resolve("scenes.avi");
        VideoWriter writer =
                new VideoWriter(
                        video.toString(),
                        VideoWriter.fourcc('M', 'J', 'P', 'G'),
                        4,
                        new org.opencv.core.Size(96, 64));
        assertTrue(writer.isOpened());
        for (int i = 1; i <= 3; i++) {
            Mat frame = ImageSource.of(photo(i)).read();
            writer.write(frame);
            frame.release();
        }
        writer.release();
        try (Detector detector = Detector.load(checkpoint)) {
            List<String> table = table(detector, video);
            assertEquals(1 + 3, table.size());
            assertTrue(table.get(3).startsWith("2,"), table.get(3));
            assertThrows(
                    SaccadeException.class,
                    () ->
                            table(
                                    detector,
                                    photo(1).getParent()
                                            .getParent()
                                            .resolve("annotations_val.json")));
        }
    }

    private static List<String> table(Detector detector, Path frames) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (PrintStream table = new PrintStream(out, true, StandardCharsets.UTF_8)) {
            ObjectCounter.count(detector, frames, MIN_SCORE, table);
        }
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static String counts(Detector detector, ImageSource pixels) {
        List<DetectedObject> found = detector.detect(pixels, 0);
        StringBuilder row = new StringBuilder();
        detector.classes().forEach(label -> row.append(',').append(sure(found, label)));
        return row.toString();
    }

    @Test
    void servesFineTunedDetector() throws Exception {
        Detector detector = Detector.load(checkpoint);
        List<DetectedObject> expected = detector.detect(photo(3));
        try (FineTuneThenServe server = new FineTuneThenServe(detector, 0)) {
            HttpResponse<String> answer = post(server, Files.readAllBytes(photo(3)));
            assertEquals(200, answer.statusCode(), answer.body());
            JsonNode objects = new ObjectMapper().readTree(answer.body());
            assertEquals(expected.size(), objects.size());
            for (int i = 0; i < objects.size(); i++) {
                JsonNode object = objects.get(i);
                assertEquals(expected.get(i).label(), object.path("label").asText());
                assertEquals(expected.get(i).score(), object.path("score").asDouble());
                assertEquals(expected.get(i).box().x2(), object.path("box").path("x2").asDouble());
            }
            HttpResponse<String> refused = post(server, new byte[] {'<', 'p', '>'});
            assertEquals(400, refused.statusCode());
            assertTrue(refused.body().contains("is not an image"), refused.body());
        }
    }

    private static HttpResponse<String> post(FineTuneThenServe server, byte[] photo)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://localhost:" + server.port() + "/detect");
        HttpRequest request =
                HttpRequest.newBuilder(uri)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(photo))
                        .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void trainsCustomBackbone() {
        List<String> overrides =
                List.of(
                        "epochs=1",
                        "data.image_size=[96, 64]",
                        "model.backbone={type: mobilenet, width: 0.25}",
                        "model.neck.out_channels=8",
                        "model.head.feat_channels=8");
        Path best = FineTuneThenServe.fineTune(CONFIG, scenes, folder.resolve("own"), overrides);
        assertTrue(
                Checkpoints.open(best)
                        .tensors()
                        .containsKey("backbone.blocks.12.channels.conv.weight"));
        try (Detector detector = Detector.load(best)) {
            assertTrue(detector.detect(photo(1)).size() <= 100);
        }
    }
}
