package dev.saccade.serve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.DeflaterOutputStream;

import javax.imageio.ImageIO;

/** Tests the Open Inference Protocol; results must equal the model bit for bit. */
class InferenceProtocolTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String INFER = "/v2/models/things/infer";
    private static final String DESCRIBED_INFER = "/v2/models/{model}/infer";
    private static final String LENGTH = "Inference-Header-Content-Length";

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
        ServerLimits limits =
                new ServerLimits(1 << 20, 100_000, 8, 64, ServerLimits.DEFAULT.timeout());
        objects =
                PredictionServer.of(detector)
                        .name("things")
                        .version("7")
                        .limits(limits)
                        .maxBatch(1)
                        .start();
        regions = PredictionServer.of(segmenter).name("things").limits(limits).start();
        classes = PredictionServer.of(classifier).name("things").limits(limits).start();
    }

    @AfterAll
    static void end() {
        Stream.of(objects, regions, classes).forEach(PredictionServer::close);
        detector.close();
        segmenter.close();
        classifier.close();
    }

    private static JsonNode get(String path) throws Exception {
        return get(objects, path);
    }

    private static JsonNode get(PredictionServer server, String path) throws Exception {
        String described =
                path.replace("/models/things", "/models/{model}")
                        .replace("/versions/7", "/versions/{version}");
        return Client.seen(OpenApi.described("get", described, new Client(server).get(path)));
    }

    private static String error(int status, HttpResponse<byte[]> response) throws Exception {
        assertEquals(status, response.statusCode(), Client.text(response));
        assertEquals("application/json", Client.type(response));
        JsonNode json = Client.json(response);
        assertEquals(List.of("error"), List.copyOf(names(json)));
        return json.get("error").asText();
    }

    private static List<String> names(JsonNode json) {
        List<String> names = new ArrayList<>();
        json.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static JsonNode infer(PredictionServer server, String json) throws Exception {
        OpenApi.assertDescribed(DESCRIBED_INFER, JSON.readTree(json));
        HttpResponse<byte[]> response =
                new Client(server).send("POST", INFER, json.getBytes(UTF_8));
        return Client.seen(OpenApi.described("post", DESCRIBED_INFER, response));
    }

    private static JsonNode output(JsonNode response, String name) {
        for (JsonNode output : response.get("outputs")) {
            if (output.get("name").asText().equals(name)) {
                return output;
            }
        }
        throw new AssertionError(name + " is missing in " + response);
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        Stream.of(parts).forEach(joined::writeBytes);
        return joined.toByteArray();
    }

    private static byte[] element(byte[] content) {
        byte[] length =
                ByteBuffer.allocate(4)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(content.length)
                        .array();
        return joined(length, content);
    }

    private static HttpResponse<byte[]> sendBinary(
            PredictionServer server, String json, byte[] data, String... headers) throws Exception {
        byte[] start = json.getBytes(UTF_8);
        String[] all = Arrays.copyOf(headers, headers.length + 2);
        all[headers.length] = LENGTH;
        all[headers.length + 1] = "" + start.length;
        return new Client(server).send("POST", INFER, joined(start, data), all);
    }

    private static String request(String type, String shape, String rest) {
        return "{\"id\":\"a\",\"parameters\":{\"score\":0.2},\"inputs\":[{\"name\":\"image\","
                + "\"datatype\":\""
                + type
                + "\",\"shape\":"
                + shape
                + ","
                + rest
                + "}]}";
    }

    private static String base64(byte[]... images) {
        return "\"data\":"
                + Stream.of(images)
                        .map(Base64.getEncoder()::encodeToString)
                        .map(text -> "\"" + text + "\"")
                        .toList();
    }

    private static byte[] rgb(byte[] png) throws Exception {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
        ByteArrayOutputStream pixels = new ByteArrayOutputStream();
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                int value = image.getRGB(x, y);
                pixels.write(value >> 16);
                pixels.write(value >> 8);
                pixels.write(value);
            }
        }
        return pixels.toByteArray();
    }

    /** Checks that the outputs equal the detections of images bit for bit. */
    private static void assertDetections(JsonNode response, byte[]... images) {
        assertEquals("things", response.get("model_name").asText());
        assertEquals("7", response.get("model_version").asText());
        assertEquals("a", response.get("id").asText());
        List<List<DetectedObject>> expected =
                Stream.of(images).map(image -> detector.detect(image, 0.2)).toList();
        JsonNode counts = output(response, "num_detections").get("data");
        assertEquals(images.length, counts.size());
        int at = 0;
        for (int i = 0; i < images.length; i++) {
            assertEquals(expected.get(i).size(), counts.get(i).asInt());
            assertFalse(expected.get(i).isEmpty());
            for (DetectedObject object : expected.get(i)) {
                JsonNode boxes = output(response, "boxes").get("data");
                assertEquals((float) object.box().x1(), boxes.get(4 * at).floatValue());
                assertEquals((float) object.box().y1(), boxes.get(4 * at + 1).floatValue());
                assertEquals((float) object.box().x2(), boxes.get(4 * at + 2).floatValue());
                assertEquals((float) object.box().y2(), boxes.get(4 * at + 3).floatValue());
                JsonNode score = output(response, "scores").get("data").get(at);
                assertEquals((float) object.score(), score.floatValue());
                JsonNode label = output(response, "labels").get("data").get(at);
                assertEquals(object.classIndex(), label.asInt());
                JsonNode name = output(response, "label_names").get("data").get(at);
                assertEquals(object.label(), name.asText());
                assertEquals(object.mask().orElseThrow(), mask(response, at));
                at++;
            }
        }
        assertEquals("[" + at + ",4]", output(response, "boxes").get("shape").toString());
    }

    private static Rle mask(JsonNode response, int index) {
        try {
            String text = output(response, "masks").get("data").get(index).asText();
            JsonNode rle = JSON.readTree(text);
            Size size = new Size(rle.get("size").get(0).asInt(), rle.get("size").get(1).asInt());
            return Rle.fromString(size, rle.get("counts").asText());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void describesServerAndModel() throws Exception {
        assertEquals("saccade", get("/v2").get("name").asText());
        assertTrue(get("/v2/health/live").get("live").asBoolean());
        assertTrue(get("/v2/health/ready").get("ready").asBoolean());
        assertTrue(get("/v2/models/things/ready").get("ready").asBoolean());
        assertTrue(get("/v2/models/things/versions/7/ready").get("ready").asBoolean());
        JsonNode model = get("/v2/models/things");
        assertEquals(model, get("/v2/models/things/versions/7"));
        assertEquals("[\"7\"]", model.get("versions").toString());
        assertEquals(6, model.get("outputs").size());
        for (String path :
                List.of("/v2/models/other", "/v2/models/things/versions/8", "/v2/no", "/v2/")) {
            int status = path.equals("/v2/") ? 200 : 404;
            assertEquals(status, new Client(objects).get(path).statusCode(), path);
        }
        error(404, new Client(objects).get("/v2/models/other/ready"));
        error(405, new Client(objects).send("POST", "/v2", new byte[] {1}));
        error(405, new Client(objects).get(INFER));
    }

    @Test
    void jsonAndPixelsEqualDetector() throws Exception {
        byte[] one = ServedModels.image("png", 1);
        byte[] two = ServedModels.image("jpg", 2);
        assertDetections(infer(objects, request("BYTES", "[1]", base64(one))), one);
        assertDetections(infer(objects, request("BYTES", "[2,1]", base64(one, two))), one, two);
        byte[] pixels = rgb(one);
        int[] values = IntStream.range(0, pixels.length).map(i -> pixels[i] & 0xFF).toArray();
        String data = "\"data\":" + Arrays.toString(values);
        assertDetections(infer(objects, request("UINT8", "[90,128,3]", data)), one);
    }

    @Test
    void binaryEqualsDetector() throws Exception {
        byte[] one = ServedModels.image("png", 1);
        byte[] data = element(one);
        String size = "\"parameters\":{\"binary_data_size\":" + data.length + "}";
        String json = request("BYTES", "[1]", size);
        assertDetections(Client.seen(sendBinary(objects, json, data)), one);

        byte[] pixels = joined(rgb(one), rgb(one));
        json = request("UINT8", "[2,90,128,3]", size.replace("" + data.length, "" + pixels.length));
        assertDetections(Client.seen(sendBinary(objects, json, pixels)), one, one);

        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        json = request("BYTES", "[1]", size);
        try (DeflaterOutputStream deflate = new DeflaterOutputStream(packed)) {
            deflate.write(joined(json.getBytes(UTF_8), data));
        }
        HttpResponse<byte[]> response =
                new Client(objects)
                        .send(
                                "POST",
                                INFER,
                                packed.toByteArray(),
                                LENGTH,
                                "" + json.length(),
                                "Content-Encoding",
                                "deflate");
        assertDetections(Client.seen(response), one);
    }

    @Test
    void returnsRequestedOutputsAsBinaryData() throws Exception {
        byte[] one = ServedModels.image("png", 1);
        String json = request("BYTES", "[1]", base64(one));
        JsonNode expected = infer(objects, json);
        String outputs =
                "\"outputs\":[{\"name\":\"label_names\",\"parameters\":{\"binary_data\":true}},"
                        + "{\"name\":\"scores\"}],\"inputs\"";
        HttpResponse<byte[]> response =
                new Client(objects)
                        .send("POST", INFER, json.replace("\"inputs\"", outputs).getBytes(UTF_8));
        int length = Integer.parseInt(response.headers().firstValue(LENGTH).orElseThrow());
        JsonNode header = JSON.readTree(response.body(), 0, length);
        assertEquals(2, header.get("outputs").size());
        assertEquals(output(expected, "scores"), output(header, "scores"));
        ByteBuffer data =
                ByteBuffer.wrap(response.body(), length, response.body().length - length)
                        .order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(
                data.remaining(),
                output(header, "label_names").at("/parameters/binary_data_size").asInt());
        for (JsonNode name : output(expected, "label_names").get("data")) {
            byte[] text = new byte[data.getInt()];
            data.get(text);
            assertEquals(name.asText(), new String(text, UTF_8));
        }
        assertFalse(data.hasRemaining());
    }

    @Test
    void labelMapsEqualSegmenter() throws Exception {
        byte[] one = ServedModels.image("png", 1);
        ClassMap expected = segmenter.segment(one);
        String json = request("BYTES", "[1]", base64(one)).replace("\"score\":0.2", "");
        JsonNode map = output(infer(regions, json), "label_map");
        assertEquals("[1,90,128]", map.get("shape").toString());
        int[] labels =
                IntStream.range(0, 90 * 128)
                        .map(i -> expected.labels().get(i / 128, i % 128))
                        .toArray();
        int[] values =
                IntStream.range(0, labels.length)
                        .map(i -> map.get("data").get(i).asInt())
                        .toArray();
        assertArrayEquals(labels, values);

        byte[] two = ServedModels.image("png", 2);
        json = request("BYTES", "[2]", base64(one, two)).replace("\"score\":0.2", "");
        HttpResponse<byte[]> response =
                new Client(regions).send("POST", INFER, json.getBytes(UTF_8));
        String error = error(400, OpenApi.described("post", DESCRIBED_INFER, response));
        assertTrue(error.contains("different sizes"), error);
        json = request("BYTES", "[1]", base64(one));
        error = error(400, new Client(regions).send("POST", INFER, json.getBytes(UTF_8)));
        assertTrue(error.contains("segmenter"), error);
    }

    @Test
    void classScoresEqualClassifier() throws Exception {
        List<byte[]> images = List.of(ServedModels.image("png", 1), ServedModels.image("jpg", 2));
        String json =
                request("BYTES", "[2]", base64(images.get(0), images.get(1)))
                        .replace("\"score\":0.2", "");
        JsonNode response = infer(classes, json);
        assertEquals("[2,3]", output(response, "scores").get("shape").toString());
        assertEquals("[2]", output(response, "labels").get("shape").toString());
        for (int i = 0; i < images.size(); i++) {
            List<ClassScore> expected = classifier.classify(images.get(i));
            for (ClassScore score : expected) {
                JsonNode value =
                        output(response, "scores")
                                .get("data")
                                .get(expected.size() * i + score.classIndex());
                assertEquals((float) score.score(), value.floatValue());
            }
            ClassScore best = expected.get(0);
            assertEquals(best.classIndex(), output(response, "labels").get("data").get(i).asInt());
            assertEquals(best.label(), output(response, "label_names").get("data").get(i).asText());
        }
        JsonNode outputs = get(classes, "/v2/models/things").get("outputs");
        assertEquals(List.of("scores", "labels", "label_names"), outputs.findValuesAsText("name"));
        assertEquals("[-1,3]", outputs.get(0).get("shape").toString());
    }

    @Test
    void djlSendsRequests() throws Exception {
        byte[] one = ServedModels.image("png", 1);
        Criteria<String, String> criteria =
                Criteria.builder()
                        .setTypes(String.class, String.class)
                        .optModelUrls(objects.uri().resolve(INFER).toString())
                        .build();
        String offline = System.getProperty("ai.djl.offline", "");
        System.setProperty("ai.djl.offline", "false");
        try (ZooModel<String, String> model = criteria.loadModel();
                Predictor<String, String> predictor = model.newPredictor()) {
            String response = predictor.predict(request("BYTES", "[1]", base64(one)));
            assertDetections(JSON.readTree(response), one);
            TranslateException wrong =
                    assertThrows(TranslateException.class, () -> predictor.predict("{}"));
            assertTrue(wrong.getMessage().contains("inputs"), wrong.getMessage());
        } finally {
            System.setProperty("ai.djl.offline", offline);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "400|''|expected a JSON object",
                "400|{|not valid JSON",
                "400|[]|expected a JSON object",
                "400|{} {}|text after",
                "400|{\"inputs\":[]}|got none",
                "400|{\"inputs\":[{}]}|inputs.name",
                "400|{\"inputs\":[{},{}]}|expected one tensor",
                "400|{\"inputs\":7}|list of tensors",
                "400|{\"inputs\":[7]}|JSON object",
                "400|{\"extra\":1}|not supported",
                "400|{\"id\":7}|expected text",
                "400|{\"parameters\":{\"score\":2},\"inputs\":[INPUT]}|from 0 to 1",
                "400|{\"parameters\":{\"score\":NaN},\"inputs\":[INPUT]}|from 0 to 1",
                "400|{\"parameters\":{\"sequence_id\":2},\"inputs\":[INPUT]}|sequence_id",
                "400|{\"parameters\":{\"binary_data_output\":1},\"inputs\":[INPUT]}|true or false",
                "400|{\"inputs\":[INPUT],\"outputs\":[{\"name\":\"nothing\"}]}|expected one of",
                "400|{\"inputs\":[INPUT],\"outputs\":[{\"name\":\"boxes\",\"parameters\":{\"classification\":3}}]}|classification",
                "400|{\"inputs\":[INPUT],\"outputs\":[{\"name\":\"boxes\"},{\"name\":\"boxes\"}]}|got boxes twice",
                "422|{\"inputs\":[INPUT]}|image[0]",
            })
    void rejectsRequests(int status, String json, String message) throws Exception {
        String input =
                "{\"name\":\"image\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"AAAA\"]}";
        byte[] body = (" " + json.replace("INPUT", input)).getBytes(UTF_8);
        String error = error(status, new Client(objects).send("POST", INFER, body));
        assertTrue(error.contains(message), error);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "400|FP32|[1,2,3]|\"data\":[1]|datatype",
                "400|UINT8|[1,2,3]|\"data\":[0,0,0,0,0,NaN]|got NaN",
                "400|UINT8|[1,2,3]|\"data\":[0,0,0,0,0,-1]|from 0 to 255",
                "400|UINT8|[1,2,3]|\"data\":[0,0,0,0,0,256]|from 0 to 255",
                "400|UINT8|[1,2,3]|\"data\":[0,0,0,0,0,1.5]|got 1.5",
                "400|UINT8|[1,2,3]|\"data\":[0,0,0,0,0,1e99]|got 1e99",
                "400|UINT8|[1,2,3]|\"data\":[0,0,0,0,0]|got 5 values",
                "400|UINT8|[1,2,3]|\"data\":[\"AA\"]|got text",
                "400|UINT8|[1,2,3]|\"data\":{\"a\":1}|got {",
                "400|UINT8|[1,2,4]|\"data\":[0]|width, 3]",
                "400|UINT8|[2,3]|\"data\":[0]|width, 3]",
                "400|UINT8|[1,1,1,1,3]|\"data\":[0]|1 to 4 sizes",
                "400|UINT8|[0,2,3]|\"data\":[]|at least 1",
                "400|UINT8|[-1,2,3]|\"data\":[]|at least 1",
                "400|UINT8|[9223372036854775808,2,3]|\"data\":[]|at least 1",
                "422|UINT8|[4294967296,4294967296,3]|\"data\":[]|at most 100000 pixels",
                "422|UINT8|[1000000000,1000000000,3]|\"data\":[]|at most 100000 pixels",
                "400|UINT8|[9223372036854775807,1,1,3]|\"data\":[]|at most 8",
                "400|UINT8|[8,300,300,3]|\"data\":[]|expected 2160000 for",
                "400|UINT8|7|\"data\":[]|list of sizes",
                "400|BYTES|[]|\"data\":[]|expected [N]",
                "400|BYTES|[2]|\"data\":[\"AAAA\"]|got 1 strings",
                "400|BYTES|[9]|\"data\":[\"AAAA\"]|at most 8",
                "400|BYTES|[1]|\"data\":[\"%%\"]|not base64",
                "400|BYTES|[1]|\"data\":[[\"\",\"\",\"\",\"\"],[\"\",\"\",\"\",\"\",\"\"],|more than 8 images",
                "400|BYTES|[1]|\"data\":[7]|got 0 strings",
                "400|BYTES|[1,2]|\"data\":[\"AAAA\"]|expected [N]",
                "400|BYTES|[1]|\"parameters\":{}|neither",
                "400|BYTES|[1]|\"parameters\":{\"binary_data_size\":4}|0 bytes follow",
                "400|BYTES|[1]|\"parameters\":{\"binary_data_size\":-1}|0 bytes follow",
                "400|BYTES|[1]|\"parameters\":{\"shared_memory_region\":\"a\"}|shared_memory_region",
                "400|BYTES|[1]|\"data\":[],\"parameters\":{\"binary_data_size\":0}|one of both",
            })
    void rejectsTensors(int status, String type, String shape, String rest, String message)
            throws Exception {
        byte[] body = request(type, shape, rest).getBytes(UTF_8);
        String error = error(status, new Client(objects).send("POST", INFER, body));
        assertTrue(error.contains(message), error);
    }

    @Test
    @Timeout(60)
    void clientsThatDoNotReadCannotExhaustTheMemory() throws Exception {
        ServerLimits limits =
                new ServerLimits(1 << 20, 4_000_000, 8, 64, ServerLimits.DEFAULT.timeout());
        ByteArrayOutputStream image = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(2000, 2000, BufferedImage.TYPE_BYTE_GRAY), "png", image);
        byte[] json =
                ("{\"parameters\":{\"binary_data_output\":true},\"inputs\":[{\"name\":\"image\","
                                + "\"datatype\":\"BYTES\",\"shape\":[1],"
                                + base64(image.toByteArray())
                                + "}]}")
                        .getBytes(UTF_8);
        try (PredictionServer server =
                PredictionServer.of(segmenter).name("things").limits(limits).start()) {
            try (Socket slow = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                String head = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n";
                slow.getOutputStream().write(Text.format(head, INFER, json.length).getBytes(UTF_8));
                slow.getOutputStream().write(json);
                assertEquals('H', slow.getInputStream().read());
                HttpResponse<byte[]> busy = new Client(server).send("POST", INFER, json);
                assertTrue(error(503, busy).contains("memory"));
            }
            while (new Client(server).send("POST", INFER, json).statusCode() != 200) {
                Thread.sleep(50);
            }
        }
    }

    @Test
    void limitsParameters() throws Exception {
        StringBuilder many = new StringBuilder("{\"parameters\":{\"a\":1");
        for (int i = 0; i < 1000; i++) {
            many.append(",\"b").append(i).append("\":1");
        }
        byte[] body = many.append("}}").toString().getBytes(UTF_8);
        String error = error(400, new Client(objects).send("POST", INFER, body));
        assertTrue(error.contains("more than 100"), error);
    }

    @Test
    void rejectsBinaryData() throws Exception {
        for (byte[] data :
                List.of(
                        new byte[3],
                        new byte[] {-1, -1, -1, -1},
                        new byte[] {-1, -1, -1, 127, 0},
                        new byte[] {2, 0, 0, 0, 1},
                        new byte[] {1, 0, 0, 0, 1, 0})) {
            String size = "\"parameters\":{\"binary_data_size\":" + data.length + "}";
            String json = request("BYTES", "[1]", size);
            String error = error(400, sendBinary(objects, json, data));
            assertTrue(error.contains("element"), error);
        }
        String json = request("BYTES", "[1]", "\"data\":[\"AAAA\"]");
        for (String length : List.of("-1", "9999999999", "x", "" + (json.length() + 1))) {
            HttpResponse<byte[]> response =
                    new Client(objects).send("POST", INFER, json.getBytes(UTF_8), LENGTH, length);
            assertTrue(error(400, response).contains("length of the JSON"));
        }
        error(400, new Client(objects).send("POST", INFER, json.getBytes(UTF_8), LENGTH, "0"));
        error(413, new Client(objects).send("POST", INFER, new byte[(1 << 20) + 1]));
        error(
                415,
                new Client(objects).send("POST", INFER, new byte[] {1}, "Content-Encoding", "br"));
        error(
                400,
                new Client(objects)
                        .send("POST", INFER, new byte[] {1}, "Content-Encoding", "deflate"));
    }
}
