package dev.saccade.models.zoo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

import dev.saccade.core.Text;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server of one file with scripted responses, one request at a time. */
final class WeightsServer implements AutoCloseable {

    /** Requested range. */
    record Request(Optional<String> range, Optional<String> ifRange) {}

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Deque<HttpHandler> answers = new ArrayDeque<>();
    private final List<Request> requests = new ArrayList<>();

    /** Starts a server; the last response is repeated. */
    WeightsServer(HttpHandler... answers) throws IOException {
        this.answers.addAll(Arrays.asList(answers));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        HttpHandler answer;
        synchronized (this) {
            requests.add(
                    new Request(
                            Optional.ofNullable(exchange.getRequestHeaders().getFirst("Range")),
                            Optional.ofNullable(
                                    exchange.getRequestHeaders().getFirst("If-Range"))));
            answer = answers.size() > 1 ? answers.poll() : answers.peek();
        }
        try (exchange) {
            answer.handle(exchange);
        }
    }

    synchronized List<Request> requests() {
        return List.copyOf(requests);
    }

    /** Returns the base URL. */
    String address() {
        return "http://localhost:" + server.getAddress().getPort();
    }

    /** Responds with a file, or with the requested range of the same version. */
    static HttpHandler file(byte[] content, String tag) {
        return exchange -> {
            String range = exchange.getRequestHeaders().getFirst("Range");
            exchange.getResponseHeaders().set("ETag", tag);
            if (range == null || !tag.equals(exchange.getRequestHeaders().getFirst("If-Range"))) {
                send(exchange, 200, content);
                return;
            }
            int start = Integer.parseInt(range.replaceAll("\\D", ""));
            exchange.getResponseHeaders()
                    .set(
                            "Content-Range",
                            Text.format(
                                    "bytes %d-%d/%d", start, content.length - 1, content.length));
            send(exchange, 206, Arrays.copyOfRange(content, start, content.length));
        };
    }

    /** Responds with a file, but closes the connection halfway. */
    static HttpHandler half(byte[] content, String tag) {
        return exchange -> {
            exchange.getResponseHeaders().set("ETag", tag);
            exchange.sendResponseHeaders(200, content.length);
            exchange.getResponseBody().write(content, 0, content.length / 2);
            exchange.getResponseBody().flush();
        };
    }

    /** Responds with a status only. */
    static HttpHandler status(int status) {
        return exchange -> exchange.sendResponseHeaders(status, -1);
    }

    /** Redirects to another URL. */
    static HttpHandler redirect(String address) {
        return exchange -> {
            exchange.getResponseHeaders().set("Location", address);
            exchange.sendResponseHeaders(302, -1);
        };
    }

    static void send(HttpExchange exchange, int status, byte[] content) throws IOException {
        exchange.sendResponseHeaders(status, content.length);
        exchange.getResponseBody().write(content);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
