package dev.saccade.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.labels.BrushRle;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/** Tests the ML backend protocol against a server that behaves like Label Studio. */
class LabelStudioBackendTest {

    private static final String TOKEN = "head.body.signature";
    private static final byte[] IMAGE = ServedModels.image("png", 1);

    private static final List<String> REQUESTS = new CopyOnWriteArrayList<>();

    @TempDir private static Path folder;
    private static Detector detector;
    private static Segmenter segmenter;
    private static Classifier classifier;
    private static HttpServer studio;
    private static HttpServer other;
    private static PredictionServer server;
    private static PredictionServer regions;
    private static PredictionServer classes;
    private static LabelStudioImages images;
    private static String host;

    @BeforeAll
    static void start() throws IOException {
        detector = ServedModels.detector(folder);
        segmenter = ServedModels.segmenter(folder);
        classifier = ServedModels.classifier(folder);
        studio = listen(LabelStudioBackendTest::respondAsStudio);
        other =
                listen(
                        exchange -> {
                            REQUESTS.add("OTHER HOST");
                            respond(exchange, 200, IMAGE);
                        });
        host = "http://localhost:" + studio.getAddress().getPort();
        ServerLimits limits = new ServerLimits(1 << 22, 100_000, 1, 64, Duration.ofSeconds(20));
        LabelStudio settings = LabelStudio.of(host, TOKEN);
        images =
                new LabelStudioImages(
                        settings, new ServerLimits(1 << 16, 100_000, 1, 64, Duration.ofSeconds(1)));
        server =
                PredictionServer.of(detector)
                        .name("things")
                        .version("7")
                        .score(0.2)
                        .limits(limits)
                        .labelStudio(settings)
                        .start();
        regions = PredictionServer.of(segmenter).labelStudio(settings).start();
        classes = PredictionServer.of(classifier).labelStudio(settings).start();
    }

    @AfterAll
    static void end() {
        Stream.of(server, regions, classes).forEach(PredictionServer::close);
        detector.close();
        segmenter.close();
        classifier.close();
        studio.stop(0);
        other.stop(0);
    }

    private interface Handler {
        void handle(HttpExchange exchange) throws IOException;
    }

    private static HttpServer listen(Handler handler) throws IOException {
        HttpServer started =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        started.createContext(
                "/",
                exchange -> {
                    try (exchange) {
                        handler.handle(exchange);
                    }
                });
        started.setExecutor(Executors.newCachedThreadPool());
        started.start();
        return started;
    }

    private static void respond(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private static void respondAsStudio(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().toString();
        String token = exchange.getRequestHeaders().getFirst("Authorization");
        REQUESTS.add(path);
        if (path.equals("/api/token/refresh")) {
            String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            assertEquals("{\"refresh\":\"" + TOKEN + "\"}", body);
            respond(exchange, 200, "{\"access\":\"short\"}".getBytes(UTF_8));
        } else if (!"Bearer short".equals(token)) {
            respond(exchange, 401, new byte[0]);
        } else if (path.equals("/data/redirect.png")) {
            String target = "http://localhost:" + other.getAddress().getPort() + "/data/a.png";
            exchange.getResponseHeaders().add("Location", target);
            respond(exchange, 302, new byte[0]);
        } else if (path.equals("/data/large.png")) {
            respond(exchange, 200, new byte[(1 << 22) + 1]);
        } else if (path.equals("/data/slow.png")) {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write(1);
            exchange.getResponseBody().flush();
            try {
                Thread.sleep(5_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        } else if (path.equals("/data/page.png")) {
            respond(exchange, 200, "<html>".getBytes(UTF_8));
        } else if (path.startsWith("/data/upload/1/a.png")) {
            respond(exchange, 200, IMAGE);
        } else {
            respond(exchange, 404, new byte[0]);
        }
    }

    private static String config(String tag) {
        return "<View><Image name='img' value='$photo'/><"
                + tag
                + " name='label' toName='img'><Label value='a &quot;b&quot;'/>"
                + "<Label value='&lt;c&gt;'/><Label value='d'/></"
                + tag
                + "></View>";
    }

    private static HttpResponse<byte[]> post(String path, Object json) throws Exception {
        return post(server, path, json);
    }

    private static HttpResponse<byte[]> post(PredictionServer to, String path, Object json)
            throws Exception {
        byte[] body = new ObjectMapper().writeValueAsBytes(json);
        String full = "/label-studio" + path;
        return OpenApi.described("post", full, new Client(to).send("POST", full, body));
    }

    private static HttpResponse<byte[]> get(String path) throws Exception {
        String full = "/label-studio" + path;
        return OpenApi.described("get", full, new Client(server).get(full));
    }

    private static HttpResponse<byte[]> predict(String tag, String... references) throws Exception {
        return predict(server, tag, references);
    }

    private static HttpResponse<byte[]> predict(
            PredictionServer to, String tag, String... references) throws Exception {
        return post(
                to,
                "/predict",
                Map.of(
                        "label_config",
                        config(tag),
                        "tasks",
                        Stream.of(references)
                                .map(each -> Map.of("id", 5, "data", Map.of("photo", each)))
                                .toList()));
    }

    private static Rle mask(JsonNode region) {
        JsonNode values = region.at("/value/rle");
        byte[] rle = new byte[values.size()];
        for (int i = 0; i < rle.length; i++) {
            rle[i] = (byte) values.get(i).asInt();
        }
        return BrushRle.decode(rle, new Size(90, 128));
    }

    private static String error(int status, HttpResponse<byte[]> response) throws Exception {
        assertEquals(status, response.statusCode(), Client.text(response));
        return Client.json(response).get("error").asText();
    }

    @Test
    void healthAndSetup() throws Exception {
        JsonNode health = Client.seen(get("/health"));
        assertEquals("UP", health.get("status").asText());
        JsonNode setup = Client.seen(post("/setup", Map.of("schema", config("BrushLabels"))));
        assertEquals("things 7", setup.get("model_version").asText());
        JsonNode versions = Client.seen(get("/versions"));
        assertEquals("[\"things 7\"]", versions.get("versions").toString());
        String none = error(400, post("/setup", Map.of("schema", config("KeyPointLabels"))));
        assertTrue(none.contains("<BrushLabels>"), none);
        String classes = config("BrushLabels").replace("value='", "value='x");
        String missing = error(400, post("/setup", Map.of("schema", classes.replace("x$", "$"))));
        assertTrue(missing.contains("none of the classes"), missing);
        error(404, new Client(server).get("/label-studio"));
        error(405, new Client(server).get("/label-studio/predict"));
        assertEquals(404, new Client(server).get("/label-studiox").statusCode());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<View>",
                "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><View>&b;</View>",
                "",
                "<View><BrushLabels name='a' toName='none'/></View>"
            })
    void rejectsLabelingConfigs(String xml) throws Exception {
        String error = error(400, post("/setup", Map.of("schema", xml)));
        assertTrue(error.startsWith("labeling config: "), error);
        assertFalse(error.contains("root:"), error);
    }

    @Test
    void predictsMasksBoxesAndPolygons() throws Exception {
        List<DetectedObject> expected = detector.detect(IMAGE, 0.2);
        String photo = "/data/upload/1/a.png";
        JsonNode response =
                Client.seen(predict("BrushLabels", photo, photo + "?d=a b", host + photo));
        assertEquals(3, response.get("results").size());
        for (JsonNode task : response.get("results")) {
            assertEquals("things 7", task.get("model_version").asText());
            List<DetectedObject> masks =
                    expected.stream().filter(each -> each.mask().orElseThrow().area() > 0).toList();
            assertEquals(masks.size(), task.get("result").size());
            for (int i = 0; i < masks.size(); i++) {
                JsonNode region = task.get("result").get(i);
                assertEquals("label", region.get("from_name").asText());
                assertEquals("img", region.get("to_name").asText());
                assertEquals("brushlabels", region.get("type").asText());
                assertEquals(masks.get(i).score(), region.get("score").asDouble());
                JsonNode value = region.get("value");
                assertEquals(masks.get(i).label(), value.at("/brushlabels/0").asText());
                assertEquals(masks.get(i).mask().orElseThrow(), mask(region));
            }
        }
        JsonNode boxes = Client.seen(predict("RectangleLabels", photo)).at("/results/0/result");
        assertEquals(expected.size(), boxes.size());
        for (int i = 0; i < boxes.size(); i++) {
            JsonNode value = boxes.get(i).get("value");
            assertEquals(expected.get(i).box().x1(), value.get("x").asDouble() * 1.28, 1e-9);
            assertEquals(
                    expected.get(i).box().height(), value.get("height").asDouble() * 0.9, 1e-9);
        }
        JsonNode polygons = Client.seen(predict("PolygonLabels", photo)).at("/results/0/result");
        assertFalse(polygons.isEmpty());
        polygons.forEach(each -> assertTrue(each.at("/value/points").size() >= 3));
    }

    @Test
    void predictsMasksOfClasses() throws Exception {
        ClassMap expected = segmenter.segment(IMAGE);
        JsonNode task =
                Client.seen(predict(regions, "BrushLabels", "/data/upload/1/a.png"))
                        .at("/results/0");
        assertEquals(expected.fractions().size(), task.get("result").size());
        for (JsonNode region : task.get("result")) {
            String label = region.at("/value/brushlabels/0").asText();
            assertEquals(expected.mask(label), mask(region));
        }
        String error = error(400, predict(regions, "Choices", "/data/upload/1/a.png"));
        assertTrue(error.contains("add <BrushLabels> with the classes a \"b\", <c>, d"), error);
    }

    @Test
    void predictsTheClassOfAnImage() throws Exception {
        ClassScore best = classifier.classify(IMAGE).get(0);
        String config = config("Choices").replace("<Label", "<Choice");
        Client.seen(post(classes, "/setup", Map.of("schema", config)));
        JsonNode task =
                Client.seen(predict(classes, "Choices", "/data/upload/1/a.png")).at("/results/0");
        assertEquals(1, task.get("result").size());
        JsonNode region = task.at("/result/0");
        assertEquals("choices", region.get("type").asText());
        assertEquals("label", region.get("from_name").asText());
        assertEquals(
                "{\"choices\":[" + new ObjectMapper().writeValueAsString(best.label()) + "]}",
                region.get("value").toString());
        assertEquals(best.score(), task.get("score").asDouble());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://OTHER/data/a.png",
                "//OTHER/data/a.png",
                "http://localhost@OTHER/data/a.png",
                "http://HOST@OTHER/data/a.png",
                "http://user@HOST/data/upload/1/a.png",
                "https://HOST/data/upload/1/a.png",
                "http://169.254.169.254/latest/meta-data",
                "file:///etc/passwd",
                "ftp://HOST/data/a.png",
                "s3://bucket/a.png",
                "data:image/png;base64,AAAA",
                "/api/projects",
                "/data/../api/projects",
                "/data/%2e%2e/api/projects",
                "/data/%2E%2E",
                "../etc/passwd",
                "\\\\OTHER\\data",
                ""
            })
    void contactsNoOtherAddress(String reference) throws Exception {
        REQUESTS.clear();
        String address =
                reference
                        .replace("OTHER", "localhost:" + other.getAddress().getPort())
                        .replace("HOST", "localhost:" + studio.getAddress().getPort());
        String error = error(422, predict("BrushLabels", address));
        assertTrue(
                error.contains("not downloaded") || error.contains("not a valid address"), error);
        assertEquals(List.of(), REQUESTS);
    }

    @Test
    void reportsDownloadsThatFail() throws Exception {
        REQUESTS.clear();
        String redirect = error(422, predict("BrushLabels", "/data/redirect.png"));
        assertTrue(redirect.contains("redirects are not followed"), redirect);
        assertFalse(REQUESTS.contains("OTHER HOST"), REQUESTS.toString());
        assertTrue(
                error(422, predict("BrushLabels", "/data/large.png"))
                        .contains("larger than 4194304 bytes"));
        assertTrue(error(422, predict("BrushLabels", "/data/gone.png")).contains("status 404"));
        assertTrue(error(422, predict("BrushLabels", "/data/page.png")).contains("not an image"));
        SaccadeException slow =
                assertThrows(SaccadeException.class, () -> images.fetch("/data/slow.png"));
        assertTrue(slow.getMessage().contains("cannot be downloaded"), slow.getMessage());
        // Other tasks keep their predictions.
        JsonNode results =
                Client.seen(predict("BrushLabels", "/data/gone.png", "/data/upload/1/a.png"))
                        .get("results");
        assertTrue(results.get(0).get("error").asText().startsWith("task 5: "));
        assertFalse(results.get(1).get("result").isEmpty());
    }

    @Test
    void rejectsMalformedRequests() throws Exception {
        Client client = new Client(server);
        for (String body : List.of("", "{", "[]", "7", "{\"tasks\":NaN}", "{\"tasks\":[]}")) {
            error(400, client.send("POST", "/label-studio/predict", body.getBytes(UTF_8)));
        }
        String many = "[" + "{},".repeat(1_000_000) + "0]";
        error(413, client.send("POST", "/label-studio/predict", many.getBytes(UTF_8)));
        for (Object tasks : List.of(List.of(), 7, Map.of())) {
            error(
                    400,
                    post(
                            "/predict",
                            Map.of("label_config", config("BrushLabels"), "tasks", tasks)));
        }
        Map<String, Object> config =
                Map.of("label_config", config("BrushLabels"), "tasks", List.of(7));
        assertTrue(error(422, post("/predict", config)).contains("has no text photo"));
    }

    @Test
    void trainingIsRejectedAndOtherEventsAreConfirmed() throws Exception {
        String error = error(501, post("/webhook", Map.of("action", "START_TRAINING")));
        assertTrue(error.contains("convert-data"), error);
        error(501, post("/train", Map.of()));
        JsonNode event = Client.seen(post("/webhook", Map.of("action", "ANNOTATION_CREATED")));
        assertEquals("ignored", event.get("status").asText());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:8081",
                "ftp://localhost",
                "http://",
                "http://user:secret@localhost",
                "http://localhost/?a=b",
                "not a url"
            })
    void rejectsAddresses(String address) {
        assertThrows(SaccadeException.class, () -> LabelStudio.of(address, ""));
    }

    @Test
    void tokenIsNotPrinted() {
        assertFalse(LabelStudio.of(host, TOKEN).toString().contains(TOKEN));
        assertThrows(SaccadeException.class, () -> LabelStudio.of(host, "a\nb"));
    }
}
