package dev.saccade.serve;

import static dev.saccade.serve.Client.problem;
import static dev.saccade.serve.Client.seen;
import static dev.saccade.serve.Client.text;
import static dev.saccade.serve.Client.type;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.Iterators;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.Segmenter;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.imageio.ImageIO;

/** Tests the endpoints of Saccade; every response must match {@code openapi.json}. */
class PredictionServerTest {

    @TempDir private static Path folder;
    private static Detector detector;
    private static Segmenter segmenter;
    private static Classifier classifier;
    private static PredictionServer objects;
    private static PredictionServer regions;
    private static PredictionServer classes;

    @BeforeAll
    static void start() {
        detector = ServedModels.detector(folder);
        segmenter = ServedModels.segmenter(folder);
        classifier = ServedModels.classifier(folder);
        Set<String> origins = Set.of("https://friend.example");
        objects = PredictionServer.of(detector).name("things").origins(origins).maxBatch(1).start();
        regions = PredictionServer.of(segmenter).start();
        classes = PredictionServer.of(classifier).start();
    }

    @AfterAll
    static void end() {
        Stream.of(objects, regions, classes).forEach(PredictionServer::close);
        detector.close();
        segmenter.close();
        classifier.close();
    }

    private static JsonNode predicted(PredictionServer server, String query, byte[] photo)
            throws Exception {
        HttpResponse<byte[]> answer = new Client(server).send("POST", "/predict" + query, photo);
        JsonNode images = seen(OpenApi.described("post", "/predict", answer));
        assertEquals(1, images.size());
        assertEquals("image", images.get(0).get("image").asText());
        return images.get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/model", "/health", "/metrics", "/openapi.json"})
    void openApiMatchesEndpoints(String path) throws Exception {
        for (PredictionServer server : List.of(objects, regions, classes)) {
            HttpResponse<byte[]> answer = new Client(server).get(path);
            assertEquals(200, OpenApi.described("get", path, answer).statusCode());
            HttpResponse<byte[]> head = new Client(server).send("HEAD", path, new byte[0]);
            assertEquals(200, head.statusCode());
            assertEquals(0, head.body().length);
            Client asker = new Client(server);
            assertTrue(problem(405, asker.send("DELETE", path, new byte[0])).contains("GET"));
        }
    }

    @Test
    void objectsEqualDetector() throws Exception {
        byte[] photo = ServedModels.image("png", 1);
        List<DetectedObject> expected = detector.detect(photo, 0.2);
        assertFalse(expected.isEmpty());

        JsonNode answer = predicted(objects, "?score=0.2", photo);

        assertEquals(128, answer.get("width").asInt());
        assertEquals(90, answer.get("height").asInt());
        assertEquals(expected.size(), answer.get("objects").size());
        for (int i = 0; i < expected.size(); i++) {
            DetectedObject object = expected.get(i);
            JsonNode output = answer.get("objects").get(i);
            assertEquals(object.label(), output.get("label").asText());
            assertEquals((float) object.score(), output.get("score").floatValue());
            assertEquals(object.classIndex(), output.get("classIndex").asInt());
            assertEquals((float) object.box().x1(), output.get("x").floatValue());
            assertEquals((float) object.box().y1(), output.get("y").floatValue());
            assertEquals((float) object.box().width(), output.get("width").floatValue());
            assertEquals((float) object.box().height(), output.get("height").floatValue());
            Rle mask = object.mask().orElseThrow();
            JsonNode segmentation = output.get("segmentation");
            assertEquals(mask.toCompressedString(), segmentation.get("counts").asText());
            assertEquals(90, segmentation.get("size").get(0).asInt());
        }
        assertFalse(predicted(objects, "?score=1", photo).get("objects").elements().hasNext());
    }

    @Test
    void returnsPolygonsOrNoMasks() throws Exception {
        byte[] photo = ServedModels.image("png", 1);
        JsonNode outlined = predicted(objects, "?score=0.01&masks=polygon", photo);
        JsonNode bare = predicted(objects, "?score=0.01&masks=false", photo);
        assertTrue(
                Iterators.any(
                        outlined.get("objects").elements(),
                        each -> !each.get("segmentation").isEmpty()));
        assertFalse(bare.toString().contains("segmentation"));
    }

    @Test
    void regionsEqualSegmenter() throws Exception {
        byte[] photo = ServedModels.image("bmp", 2);
        ClassMap expected = segmenter.segment(photo);

        JsonNode answer = predicted(regions, "", photo);

        assertEquals(expected.fractions().size(), answer.get("regions").size());
        for (JsonNode region : answer.get("regions")) {
            String label = region.get("label").asText();
            assertEquals(label, expected.classes().get(region.get("classIndex").asInt()), "class");
            assertEquals(expected.fractions().get(label), region.get("fraction").asDouble());
            Rle mask = expected.mask(label);
            assertEquals(mask.area(), region.get("pixels").asLong());
            assertEquals(mask.toCompressedString(), region.at("/segmentation/counts").asText());
        }
        assertFalse(predicted(regions, "?masks=false", photo).toString().contains("counts"));
    }

    @Test
    void classesEqualClassifier() throws Exception {
        byte[] photo = ServedModels.image("png", 2);
        List<ClassScore> expected = classifier.classify(photo);

        JsonNode answer = predicted(classes, "?score=0", photo).get("classes");

        assertEquals(expected.size(), answer.size());
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).label(), answer.get(i).get("label").asText());
            assertEquals(expected.get(i).classIndex(), answer.get(i).get("classIndex").asInt());
            assertEquals((float) expected.get(i).score(), answer.get(i).get("score").floatValue());
        }
    }

    @Test
    void returnsLabelMapAsPng() throws Exception {
        byte[] photo = ServedModels.image("jpg", 2);
        Client client = new Client(regions);
        HttpResponse<byte[]> answer = client.predict(photo, "Accept", "image/png, */*;q=0.1");
        OpenApi.described("post", "/predict", answer);
        assertEquals("image/png", type(answer));
        assertArrayEquals(segmenter.segment(photo).toPng(), answer.body());
        problem(406, new Client(objects).predict(photo, "Accept", "image/png"));
        problem(406, client.predict(photo, "Accept", "text/html"));
    }

    @Test
    void predictsFilesOfForm() throws Exception {
        Map<String, byte[]> files = new LinkedHashMap<>();
        files.put("first.png", ServedModels.image("png", 0));
        files.put("../../etc/passwd", "<html>".getBytes(StandardCharsets.UTF_8));
        files.put("ä\u202e.jpg", ServedModels.image("jpg", 3));

        HttpResponse<byte[]> answer = new Client(objects).sendForm(files, "?score=0.2");
        JsonNode answers = seen(OpenApi.described("post", "/predict", answer));

        assertEquals(
                List.copyOf(files.keySet()),
                List.of(
                        answers.get(0).get("image").asText(),
                        answers.get(1).get("image").asText(),
                        answers.get(2).get("image").asText()));
        JsonNode alone = predicted(objects, "?score=0.2", files.get("first.png"));
        assertEquals(alone.get("objects"), answers.get(0).get("objects"));
        assertEquals(
                "../../etc/passwd: is not an image, it starts with \"<html>\"; expected a JPEG,"
                        + " PNG, BMP, TIFF or WebP image",
                answers.get(1).at("/problem/detail").asText());
        assertEquals(144, answers.get(2).get("width").asInt());
        assertFalse(Files.exists(folder.resolve("first.png")));
    }

    @Test
    void formWithoutUsableFileIsAProblem() throws Exception {
        Map<String, byte[]> files = Map.of("a.txt", new byte[] {1}, "b.txt", new byte[0]);
        HttpResponse<byte[]> answer = new Client(objects).sendForm(files, "");
        String output = problem(422, OpenApi.described("post", "/predict", answer));
        assertTrue(
                output.contains("a.txt: is not an image") && output.contains("b.txt: is empty"),
                output);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "?score=2 | score: got 2, expected a number from 0 to 1, or per-class",
                "?score=x&masks=y | score: got x, expected a number from 0 to 1, or per-class;"
                        + " masks: got y, expected one of rle, polygon, false",
                "?Score=1 | Score: unknown parameter; expected score or masks",
                "?score=0.1&score=0.2 | score: got 2 values, expected one",
            })
    void reportsAllQueryProblems(String query, String expected) throws Exception {
        Client client = new Client(objects);
        HttpResponse<byte[]> answer =
                client.send("POST", "/predict" + query, ServedModels.image("png", 0));
        assertEquals(expected, problem(400, OpenApi.described("post", "/predict", answer)));
    }

    @Test
    void segmenterRejectsScore() throws Exception {
        Client client = new Client(regions);
        String output =
                problem(
                        400,
                        client.send("POST", "/predict?score=0.5", ServedModels.image("png", 0)));
        assertTrue(output.startsWith("score: does not apply to a segmenter"), output);
    }

    @Test
    void rejectsOtherPathsAndMethods() throws Exception {
        Client client = new Client(objects);
        assertTrue(problem(404, client.get("/predict/")).contains("expected /, /predict"));
        problem(404, client.get("/page.js"));
        HttpResponse<byte[]> get = client.get("/predict");
        assertTrue(problem(405, get).contains("expected POST"));
        assertEquals("POST, OPTIONS", get.headers().firstValue("Allow").orElseThrow());
    }

    @Test
    void rejectsOtherOriginsUnlessAllowed() throws Exception {
        Client client = new Client(objects);
        byte[] photo = ServedModels.image("png", 0);
        String output = problem(403, client.predict(photo, "Origin", "https://evil.example"));
        assertTrue(output.contains("other origins"), output);
        String own = "http://" + objects.uri().getAuthority();
        assertEquals(200, client.predict(photo, "Origin", own).statusCode());

        HttpResponse<byte[]> friend = client.predict(photo, "Origin", "https://friend.example");
        assertEquals(
                "https://friend.example",
                friend.headers().firstValue("Access-Control-Allow-Origin").orElseThrow());
        HttpResponse<byte[]> asked =
                client.send("OPTIONS", "/predict", new byte[0], "Origin", "https://friend.example");
        assertEquals(204, asked.statusCode());
        assertTrue(
                asked.headers()
                        .firstValue("Access-Control-Allow-Methods")
                        .orElseThrow()
                        .contains("POST"));
        assertTrue(
                client.predict(photo)
                        .headers()
                        .firstValue("Access-Control-Allow-Origin")
                        .isEmpty());
    }

    @Test
    void metricsCountRequests() throws Exception {
        Client client = new Client(objects);
        client.predict(ServedModels.image("png", 0));
        String output = text(client.get("/metrics"));
        assertTrue(
                output.contains("saccade_http_requests_total{code=\"200\",route=\"/predict\"} "),
                output);
        for (String name :
                List.of(
                        "saccade_http_request_duration_seconds_bucket{route=\"/predict\",le=",
                        "saccade_queue_length{model=\"things\"} ",
                        "saccade_queue_capacity{model=\"things\"} 128.0",
                        "saccade_queue_wait_seconds_count{model=\"things\"} ",
                        "saccade_model_memory_bytes{model=\"things\"} ",
                        "saccade_http_connections ",
                        "saccade_requests_in_flight ",
                        "saccade_decode_seconds_bucket{error=\"none\",model=\"things\",le=",
                        "saccade_predict_seconds_count{error=\"none\",model=\"things\"} ",
                        "saccade_batch_size_count{model=\"things\"} ",
                        "process_resident_memory_bytes ")) {
            assertTrue(output.contains("\n" + name), name + " is not in " + output);
        }
    }

    @Test
    void metricsOfTheDashboardExist() throws Exception {
        Client client = new Client(objects);
        client.predict(ServedModels.image("png", 0));
        String output = text(client.get("/metrics"));
        String dashboard = Files.readString(Path.of("..", "docs", "grafana_dashboard.json"));
        Set<String> queried =
                Pattern.compile("saccade_[a-z_]+")
                        .matcher(dashboard)
                        .results()
                        .map(MatchResult::group)
                        .collect(Collectors.toSet());
        assertEquals(9, queried.size(), queried.toString());
        for (String name : queried) {
            assertTrue(
                    output.contains("\n" + name + "{") && dashboard.contains(name + "{model"),
                    name + " is not in " + output);
        }
    }

    @Test
    void describesModel() throws Exception {
        JsonNode model = Client.json(new Client(objects).get("/model"));
        assertEquals("things", model.get("name").asText());
        assertEquals(0.0, model.get("defaultScore").asDouble());
        assertEquals("detection", model.get("task").asText());
        assertEquals("mask_rcnn", model.get("head").asText());
        assertEquals("<c>", model.at("/classes/1/label").asText());
        assertEquals(0.0, model.at("/classes/1/score").asDouble());
        JsonNode other = Client.json(new Client(regions).get("/model"));
        assertEquals("segmentation", other.get("task").asText());
    }

    @Test
    void usesAndStatesTheRecommendedScoresOfTheCheckpoint() throws Exception {
        byte[] photo = ServedModels.image("png", 1);
        List<DetectedObject> all = detector.detect(photo, 0);
        DetectedObject middle = all.get(all.size() / 2);
        ScoreThresholds scores =
                new ScoreThresholds(middle.score(), Map.of(all.get(0).label(), 1.0));
        Path file = folder.resolve("recommended.safetensors");
        Checkpoint checkpoint = Checkpoints.open(folder.resolve("detector.safetensors"));
        Map<String, String> metadata = new HashMap<>(checkpoint.metadata());
        metadata.putAll(scores.toMetadata());
        Checkpoints.save(file, new Checkpoint(checkpoint.tensors(), metadata));
        try (Detector recommending = Detector.load(file);
                PredictionServer server = PredictionServer.of(recommending).start()) {
            Client client = new Client(server);
            JsonNode model = Client.json(client.get("/model"));
            JsonNode openApi = Client.json(client.get("/openapi.json"));
            assertEquals(middle.score(), model.get("defaultScore").asDouble());
            assertEquals(
                    middle.score(),
                    openApi.at("/paths/~1predict/post/parameters/0/schema/default").asDouble());
            JsonNode objects = predicted(server, "", photo).get("objects");
            assertEquals(
                    all.stream().filter(each -> each.score() >= middle.score()).count(),
                    objects.size());
            assertEquals(recommending.detect(photo).size(), objects.size());
            JsonNode perClass = predicted(server, "?score=per-class", photo).get("objects");
            assertTrue(perClass.size() < objects.size());
            perClass.forEach(
                    object -> assertNotEquals(all.get(0).label(), object.get("label").asText()));
        }
    }

    @Test
    void serverAddressesAreRelativeToOpenapiJson() throws Exception {
        JsonNode api = Client.json(new Client(objects).get("/openapi.json"));
        URI file = URI.create("https://example.org/models/one/openapi.json");
        assertEquals(
                "https://example.org/models/one/",
                file.resolve(api.at("/servers/0/url").asText()).toString());
    }

    @Test
    void reportsSkippedPartsOfImages() throws Exception {
        BufferedImage dark = new BufferedImage(24, 16, BufferedImage.TYPE_USHORT_GRAY);
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        ImageIO.write(dark, "png", png);
        JsonNode warnings = predicted(objects, "", png.toByteArray()).get("warnings");
        assertEquals(2, warnings.size(), warnings.toString());
        assertTrue(warnings.get(1).asText().contains("nearly black"), warnings.toString());
    }

    @Test
    void contentSecurityPolicyAllowsOnlyOwnScript() throws Exception {
        HttpResponse<byte[]> page = new Client(objects).get("/");
        String policy = page.headers().firstValue("Content-Security-Policy").orElseThrow();
        assertTrue(policy.startsWith("default-src 'none'"), policy);
        assertFalse(policy.contains("unsafe"), policy);
        assertFalse(text(page).matches("(?s).*(src|href)=\"(?!data:,).*"), "loads something");
    }

    @Test
    void portInUseIsAUserError() {
        PredictionServer.Settings second = PredictionServer.of(detector).port(objects.port());
        SaccadeException thrown = assertThrows(SaccadeException.class, second::start);
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertEquals(List.of("port", "host"), thrown.settings());
    }

    @Test
    void sizeFollowsExifOrientation() throws Exception {
        byte[] turned =
                Files.readAllBytes(Path.of("src/test/resources/dev/saccade/serve/turned.jpg"));
        JsonNode answer = predicted(objects, "", turned);
        assertEquals(
                new Size(48, 32),
                new Size(answer.get("height").asInt(), answer.get("width").asInt()));
    }
}
