package dev.saccade.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Fine-tunes a detector on custom images, then serves it over HTTP:
 *
 * <pre>FineTuneThenServe CONFIG DATA RUN PORT KEY=VALUE...
 * curl --data-binary @image.jpg localhost:PORT/detect</pre>
 *
 * <p>Keys and values override the config, such as {@code init_from=mask_rcnn.pth epochs=24}.
 */
public final class FineTuneThenServe implements AutoCloseable {

    private static final int MAX_BYTES = 50_000_000;
    private static final int THREADS = 2;

    private record Detection(String label, double score, Box box) {

        Detection(DetectedObject object) {
            this(object.label(), object.score(), object.box());
        }
    }

    private final Detector detector;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final ObjectMapper json = new ObjectMapper();

    /** Serves a detector, which is closed with the server; port 0 selects a free port. */
    public FineTuneThenServe(Detector detector, int port) throws IOException {
        this.detector = detector;
        server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(threads);
        server.createContext("/detect", this::respond);
        server.start();
    }

    public static void main(String[] args) throws IOException {
        if (args.length < 4) {
            System.err.println("expected: CONFIG DATA RUN PORT KEY=VALUE...");
            return;
        }
        List<String> overrides = List.of(args).subList(4, args.length);
        Path best = fineTune(Path.of(args[0]), Path.of(args[1]), Path.of(args[2]), overrides);
        new FineTuneThenServe(Detector.load(best), Integer.parseInt(args[3]));
        System.out.println("serving on port " + args[3]);
    }

    /** Trains a detector and returns the best checkpoint. */
    static Path fineTune(Path config, Path data, Path run, List<String> overrides) {
        RunConfig fineTuning =
                RunConfig.load(config, overrides.toArray(String[]::new))
                        .with("data.root='" + data + "'");
        Hook printing =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        System.out.println(evaluation.metrics());
                    }
                };
        Training.of(fineTuning).start(run, printing);
        return new RunFolder(run).best();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    private void respond(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] image = exchange.getRequestBody().readNBytes(MAX_BYTES);
            try {
                respond(
                        exchange,
                        200,
                        detector.detect(image).stream().map(Detection::new).toList());
            } catch (SaccadeException e) {
                respond(exchange, 400, Map.of("error", e.getMessage()));
            }
        }
    }

    private void respond(HttpExchange exchange, int status, Object body) throws IOException {
        byte[] bytes = json.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }

    @Override
    public void close() {
        server.stop(1);
        threads.shutdown();
        detector.close();
    }
}
