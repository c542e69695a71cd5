package dev.saccade.mlflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

import dev.saccade.core.ServerException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Servers that respond unlike MLflow; training waits for none of them. */
@Timeout(60)
class MlflowClientTest {

    private final CountDownLatch end = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private void assertFault(String expected, Duration patience, HttpHandler answer) {
        server.createContext("/", answer);
        String uri = "http://localhost:" + server.getAddress().getPort() + "/";
        MlflowClient client = new MlflowClient(uri, "", patience);
        ServerException fault =
                assertThrows(ServerException.class, () -> client.createRun("7", "run"));
        assertEquals(expected, fault.getMessage());
    }

    @Test
    void rejectsHeadersWithoutABody() {
        assertFault(
                "no response in time",
                Duration.ofMillis(300),
                exchange -> {
                    exchange.sendResponseHeaders(200, 100);
                    exchange.getResponseBody().flush();
                    awaitEnd();
                });
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void rejectsAnEndlessResponse() {
        assertFault(
                "the response is too large",
                Duration.ofMinutes(1),
                exchange -> {
                    exchange.sendResponseHeaders(200, 0);
                    while (end.getCount() > 0) {
                        exchange.getResponseBody().write(new byte[10_000]);
                    }
                });
    }

    @Test
    void reportsAResponseThatIsNotJson() {
        assertFault(
                "the response is not JSON; is this an MLflow server?",
                Duration.ofMinutes(1),
                exchange -> send(exchange, "<html>"));
    }

    @Test
    void reportsAMissingValue() {
        assertFault(
                "the response has no run/info/run_id; is this an MLflow server?",
                Duration.ofMinutes(1),
                exchange -> send(exchange, "{\"run\": [1]}"));
    }

    private static void send(HttpExchange exchange, String answer) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(200, answer.length());
            exchange.getResponseBody().write(answer.getBytes(UTF_8));
        }
    }
}
