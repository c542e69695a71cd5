package dev.saccade.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.Charset;
import java.util.Locale;
import java.util.Map;

/** A simple HTTP client of the server. */
record Client(URI server, HttpClient http) {

    static final String BOUNDARY = "----a-boundary";

    private static final ObjectMapper JSON = new ObjectMapper();

    Client(PredictionServer server) {
        this(server.uri(), HttpClient.newHttpClient());
    }

    HttpResponse<byte[]> get(String path, String... headers)
            throws IOException, InterruptedException {
        return send("GET", path, new byte[0], headers);
    }

    HttpResponse<byte[]> predict(byte[] photo, String... headers)
            throws IOException, InterruptedException {
        return send("POST", "/predict", photo, headers);
    }

    HttpResponse<byte[]> send(String method, String path, byte[] body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(server.resolve(path))
                        .method(
                                method,
                                body.length == 0
                                        ? BodyPublishers.noBody()
                                        : BodyPublishers.ofByteArray(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    HttpResponse<byte[]> sendForm(Map<String, byte[]> files, String query)
            throws IOException, InterruptedException {
        return send(
                "POST",
                "/predict" + query,
                form(files),
                "Content-Type",
                "multipart/form-data; boundary=" + BOUNDARY);
    }

    private static byte[] form(Map<String, byte[]> files) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        files.forEach(
                (name, content) -> {
                    String head =
                            "--%s\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"%s\"\r\n\r\n";
                    body.writeBytes(
                            String.format(Locale.ROOT, head, BOUNDARY, name).getBytes(UTF_8));
                    body.writeBytes(content);
                    body.writeBytes("\r\n".getBytes(UTF_8));
                });
        body.writeBytes(("--" + BOUNDARY + "--\r\n").getBytes(UTF_8));
        return body.toByteArray();
    }

    static JsonNode json(HttpResponse<byte[]> answer) throws IOException {
        return JSON.readTree(answer.body());
    }

    static JsonNode seen(HttpResponse<byte[]> answer) throws IOException {
        assertEquals(200, answer.statusCode(), text(answer));
        return json(answer);
    }

    /** Returns the detail of a problem. */
    static String problem(int status, HttpResponse<byte[]> answer) throws IOException {
        assertEquals(status, answer.statusCode(), text(answer));
        assertEquals("application/problem+json", type(answer));
        assertEquals(status, json(answer).get("status").asInt());
        return json(answer).get("detail").asText();
    }

    static String type(HttpResponse<?> answer) {
        return answer.headers().firstValue("Content-Type").orElse("none");
    }

    static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), Charset.forName("UTF-8"));
    }
}
