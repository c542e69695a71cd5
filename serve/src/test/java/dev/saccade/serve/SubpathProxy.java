package dev.saccade.serve;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;

/** A reverse proxy that serves a server below a path, which it removes. */
final class SubpathProxy implements AutoCloseable {

    private final String path;
    private final URI target;
    private final HttpServer proxy;
    private final HttpClient client = HttpClient.newHttpClient();

    SubpathProxy(String path, URI target) throws IOException {
        this.path = path;
        this.target = target;
        proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        proxy.createContext(path, this::forward);
        proxy.start();
    }

    /** Returns the URL of the path without trailing slash. */
    URI uri() {
        return URI.create("http://127.0.0.1:" + proxy.getAddress().getPort() + path);
    }

    private void forward(HttpExchange exchange) throws IOException {
        String rest = exchange.getRequestURI().toString().substring(path.length());
        HttpRequest.Builder request =
                HttpRequest.newBuilder(target.resolve(rest.isEmpty() ? "/" : rest))
                        .method(
                                exchange.getRequestMethod(),
                                BodyPublishers.ofByteArray(
                                        exchange.getRequestBody().readAllBytes()));
        for (String name : List.of("Origin", "Sec-Fetch-Site", "Content-Type")) {
            String value = exchange.getRequestHeaders().getFirst(name);
            if (value != null) {
                request.header(name, value);
            }
        }
        try {
            HttpResponse<byte[]> response =
                    client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            String type = response.headers().firstValue("Content-Type").orElse("text/plain");
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(response.statusCode(), response.body().length);
            exchange.getResponseBody().write(response.body());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.close();
        }
    }

    @Override
    public void close() {
        proxy.stop(0);
    }
}
