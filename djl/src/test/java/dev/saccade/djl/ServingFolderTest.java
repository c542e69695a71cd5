package dev.saccade.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.Device;
import ai.djl.inference.Predictor;
import ai.djl.modality.Input;
import ai.djl.modality.Output;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import dev.saccade.core.Text;
import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.Reader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;

/** Folders of models, loaded as DJL Serving loads them, and asked over HTTP. */
class ServingFolderTest {

    @TempDir Path folder;
    private Path photo;

    @BeforeEach
    void writePhoto() throws IOException {
        photo = Served.image(folder);
    }

    /** Loads a folder by the very criteria that DJL Serving makes of it. */
    private static ZooModel<Input, Output> serve(Path model) throws Exception {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(model.resolve("serving.properties"))) {
            properties.load(reader);
        }
        Map<String, Object> arguments = new HashMap<>();
        Map<String, String> options = new HashMap<>();
        for (String key : properties.stringPropertyNames()) {
            if (key.startsWith("option.")) {
                options.put(key.substring("option.".length()), properties.getProperty(key));
            } else {
                arguments.put(key, properties.getProperty(key));
            }
        }
        return Criteria.builder()
                .setTypes(Input.class, Output.class)
                .optModelUrls(model.toUri().toURL().toString())
                .optEngine(properties.getProperty("engine"))
                .optArguments(arguments)
                .optOptions(options)
                .optDevice(Device.cpu())
                .build()
                .loadModel();
    }

    private Path written(Path checkpoint) {
        Path model = folder.resolve("served");
        ServingFolder.write(checkpoint, model);
        return model;
    }

    private static void answer(Predictor<Input, Output> predictor, HttpExchange exchange)
            throws IOException {
        try (exchange) {
            Input input = new Input();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> input.addProperty(name, values.get(0)));
            input.add("data", exchange.getRequestBody().readAllBytes());
            Output output = predictor.predict(input);
            byte[] body = output.getData().getAsBytes();
            exchange.getResponseHeaders()
                    .set("Content-Type", output.getProperty("Content-Type", ""));
            exchange.sendResponseHeaders(output.getCode(), body.length);
            exchange.getResponseBody().write(body);
        } catch (TranslateException e) {
            throw new AssertionError(e);
        }
    }

    private static HttpResponse<String> post(URI address, byte[] body, String type)
            throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(address)
                        .header("Content-Type", type)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    @ParameterizedTest
    @EnumSource
    void predictsAnImageOverHttp(TinyModel tiny) throws Exception {
        Path checkpoint = Served.checkpoint(tiny, folder);
        Expected expected = Expected.of(tiny, checkpoint, photo);
        Locale before = Locale.getDefault();
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        try (ZooModel<Input, Output> model = serve(written(checkpoint));
                Predictor<Input, Output> predictor = model.newPredictor()) {
            Locale.setDefault(Locale.GERMANY);
            server.createContext("/predictions/tiny", exchange -> answer(predictor, exchange));
            server.start();
            URI address =
                    new URI(
                            Text.format(
                                    "http://localhost:%d/predictions/tiny",
                                    server.getAddress().getPort()));
            HttpResponse<String> answer = post(address, Files.readAllBytes(photo), "image/png");
            assertEquals(200, answer.statusCode());
            assertEquals(
                    "application/json", answer.headers().firstValue("Content-Type").orElseThrow());
            expected.assertIsJson(answer.body());

            HttpResponse<String> refused = post(address, new byte[] {1, 2, 3}, "image/png");
            assertEquals(400, refused.statusCode());
            assertTrue(refused.body().contains("\"type\":\"SaccadeException\""), refused.body());
            HttpResponse<String> elsewhere =
                    post(
                            address,
                            "{\"image_url\": \"http://localhost/photo.jpg\"}".getBytes(UTF_8),
                            "application/json");
            assertEquals(400, elsewhere.statusCode());
            assertTrue(elsewhere.body().contains("has no image"), elsewhere.body());
        } finally {
            Locale.setDefault(before);
            server.stop(0);
        }
    }

    @Test
    void reportsOneDamagedImageOnly() throws Exception {
        Path checkpoint = Served.checkpoint(TinyModel.RETINANET, folder);
        Expected expected = Expected.of(TinyModel.RETINANET, checkpoint, photo);
        Input good = new Input();
        good.add(Files.readAllBytes(photo));
        Input bad = new Input();
        bad.add("no photograph");
        try (ZooModel<Input, Output> model = serve(written(checkpoint));
                Predictor<Input, Output> predictor = model.newPredictor()) {
            List<Output> format = predictor.batchPredict(List.of(good, bad, new Input(), good));
            assertEquals(
                    List.of(200, 400, 400, 200), format.stream().map(Output::getCode).toList());
            expected.assertIsJson(format.get(0).getData().getAsString());
            expected.assertIsJson(format.get(3).getData().getAsString());
        }
    }
}
