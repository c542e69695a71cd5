package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.report.Examples;
import dev.saccade.report.runs.MetricsFile;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A server from start to SIGTERM. */
class ServeCommandTest {

    private static final int ENDED_BY_SIGTERM = 143;

    @TempDir private static Path folder;
    private static TinyRun tiny;

    @BeforeAll
    static void train() throws IOException {
        tiny = TinyRun.shared();
    }

    @Test
    void responsesEqualPredictUntilTerminated() throws Exception {
        Path photo = tiny.photo(folder.resolve("photo.jpg"));
        Path out = folder.resolve("found");
        CommandResult predicted =
                saccade("predict", tiny.run(), photo, "--score", "0.001", "--out", out, "--json");
        assertEquals(0, predicted.code(), predicted.err());
        JsonNode expected = new ObjectMapper().readTree(predicted.out()).at("/0/objects");
        assertTrue(expected.size() > 1);

        Process process =
                CommandResult.process("serve", tiny.run(), "--port", 0)
                        .redirectError(folder.resolve("serve.err").toFile())
                        .start();
        try (BufferedReader said = process.inputReader()) {
            String first = said.readLine();
            assertTrue(first.startsWith("serving run at http://127.0.0.1:"), first);
            URI page = URI.create(first.substring(first.indexOf("http://")));
            HttpRequest request =
                    HttpRequest.newBuilder(page.resolve("/predict?score=0.001"))
                            .POST(HttpRequest.BodyPublishers.ofFile(photo))
                            .build();
            String answer =
                    HttpClient.newHttpClient()
                            .send(request, HttpResponse.BodyHandlers.ofString())
                            .body();
            assertEquals(expected, new ObjectMapper().readTree(answer).at("/0/objects"));
            Examples examples =
                    MetricsFile.read(tiny.run())
                            .orElseThrow()
                            .checkpoint()
                            .orElseThrow()
                            .task()
                            .examples();
            JsonNode model;
            try (InputStream output = page.resolve("/model").toURL().openStream()) {
                model = new ObjectMapper().readTree(output);
            }
            assertEquals(examples.threshold(), model.get("defaultScore").asDouble());

            process.destroy();

            assertTrue(process.waitFor(1, TimeUnit.MINUTES));
            assertEquals(ENDED_BY_SIGTERM, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void reportsInvalidOptions() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CommandResult ended = saccade("serve", tiny.run(), "--port", taken.getLocalPort());
            assertEquals(2, ended.code(), ended.err());
            assertTrue(ended.err().contains("see --port and --host of saccade serve"), ended.err());
        }
        CommandResult host = saccade("serve", tiny.run(), "--host", "no.such.host.invalid");
        assertEquals(2, host.code());
        assertTrue(host.err().contains("expected an address of this machine"), host.err());
    }

    @Test
    void reportsAllProblemsTogether() {
        List<Object> mistaken = new ArrayList<>(List.of("serve", tiny.run()));
        mistaken.addAll(List.of("--port", 70_000, "--max-queue", 0, "--max-upload", 5000));
        mistaken.addAll(List.of("--timeout", 0, "--cors", "https://example.org/"));
        CommandResult ended = saccade(mistaken.toArray());
        assertEquals(2, ended.code());
        assertEquals(
                """
                saccade: serve: 5 problems
                  - --port: got 70000, expected at most 65535
                  - --max-queue: got 0, expected at least 1
                  - --max-upload: got 5000, expected at most 1024
                  - --timeout: got 0, expected at least 1
                  - --cors: got https://example.org/, expected an origin such as https://example.org
                """,
                ended.err());
    }
}
