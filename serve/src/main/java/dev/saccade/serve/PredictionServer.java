package dev.saccade.serve;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableSet;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.ModelMetrics;
import dev.saccade.models.QueueLimits;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

import java.net.InetAddress;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * Serves predictions of a model over HTTP, with a page to try it.
 *
 * <pre>{@code
 * Detector detector = Detector.load(Path.of("best.safetensors"));
 * PredictionServer server = PredictionServer.of(detector).port(8080).start();
 * System.out.println("serving at " + server.uri());
 * }</pre>
 *
 * <p>Listens on the loopback interface by default, without authentication. Does not close the
 * model.
 */
public final class PredictionServer implements AutoCloseable {

    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(30);
    private static final int THREADS = 16;
    private static final int MAX_HEADER_BYTES = 8192;

    private final Server server;
    private final ServerConnector connector;
    private final UploadQueue queue;
    private final Optional<LabelStudioBackend> labelStudio;
    private int port;
    private final RequestTracker tracker = new RequestTracker();
    private final CountDownLatch ended = new CountDownLatch(1);

    private PredictionServer(Settings settings) {
        InetAddress address = settings.address();
        QueuedThreadPool threads = new QueuedThreadPool(THREADS);
        threads.setName("serve-http");
        threads.setDaemon(true);
        server = new Server(threads);
        connector = new ServerConnector(server, /* acceptors= */ 1, /* selectors= */ 1, http());
        connector.setHost(address.getHostAddress());
        connector.setPort(settings.port);
        // ConnectionTimeout also closes connections that are slow rather than idle.
        connector.setIdleTimeout(0);
        connector.setReuseAddress(true);
        ServerMetrics metrics = new ServerMetrics();
        metrics.connections(() -> connector.getConnectedEndPoints().size());
        metrics.requestsInFlight(tracker::count);
        ServerLimits limits = settings.limits;
        queue =
                new UploadQueue(
                        settings.model,
                        new QueueLimits(limits.queue(), settings.maxBatch, limits.pixels()),
                        ModelMetrics.of(settings.name, metrics.registry()));
        ConnectionTimeout timeout =
                new ConnectionTimeout(connector.getScheduler(), limits.timeout());
        connector.addBean(timeout);
        server.addBean(new NetworkConnectionLimit(limits.connections(), connector));
        ModelInfo facts =
                ModelInfo.of(
                        settings.model, settings.name, settings.version, settings.score, limits);
        labelStudio =
                settings.labelStudio.map(
                        studio ->
                                new LabelStudioBackend(
                                        studio, settings.model, facts, limits, queue));
        Routes routes =
                new Routes(
                        settings.model,
                        facts,
                        limits,
                        queue,
                        metrics,
                        timeout,
                        new OriginFilter(address.isLoopbackAddress(), settings.origins),
                        tracker,
                        labelStudio);
        server.addConnector(connector);
        server.setHandler(routes);
        server.setErrorHandler(new ProblemWriter());
    }

    private static HttpConnectionFactory http() {
        HttpConfiguration http = new HttpConfiguration();
        http.setRequestHeaderSize(MAX_HEADER_BYTES);
        http.setSendServerVersion(false);
        http.setSendXPoweredBy(false);
        http.setUriCompliance(UriCompliance.RFC3986);
        return new HttpConnectionFactory(http);
    }

    public static Settings of(TrainedModel<?> model) {
        return new Settings(model);
    }

    public static final class Settings {

        private final TrainedModel<?> model;
        private String name = "model";
        private String version = "1";
        private double score;
        private String host = InetAddress.getLoopbackAddress().getHostAddress();
        private int port;
        private int maxBatch = QueueLimits.DEFAULT.batch();
        private ServerLimits limits = ServerLimits.DEFAULT;
        private Set<String> origins = ImmutableSet.of();
        private Optional<LabelStudio> labelStudio = Optional.empty();

        private Settings(TrainedModel<?> model) {
            this.model = requireNonNull(model, "model");
            this.score =
                    model.<ScoreThresholds>match(
                                    detector -> detector.scoreThresholds(),
                                    segmenter -> ScoreThresholds.DEFAULT,
                                    classifier -> ScoreThresholds.of(0))
                            .overall();
        }

        /** Sets the model name on the page and in {@code /model}. */
        public Settings name(String value) {
            name = requireNonNull(value, "name");
            return this;
        }

        /**
         * Sets the model version for clients of the Open Inference Protocol and Label Studio, such
         * as the time of the checkpoint; default: 1.
         */
        public Settings version(String value) {
            version = requireNonNull(value, "version");
            return this;
        }

        /** Sets the minimum score for requests without one; default: the model's recommendation. */
        public Settings score(double value) {
            score = value;
            return this;
        }

        /** Sets the address to listen on; {@code 0.0.0.0} for all network interfaces. */
        public Settings host(String value) {
            host = requireNonNull(value, "host");
            return this;
        }

        /** Sets the port; default: 0, any free port. */
        public Settings port(int value) {
            port = value;
            return this;
        }

        /**
         * Sets the maximum batch size of a detector; default: 4. Responses equal {@code
         * Detector.detect} bit for bit, on GPUs and without fused operators only with 1. Segmenters
         * always predict single images.
         */
        public Settings maxBatch(int value) {
            maxBatch = value;
            return this;
        }

        public Settings limits(ServerLimits value) {
            limits = requireNonNull(value, "limits");
            return this;
        }

        /** Allows requests from pages of these origins, such as {@code https://example.org}. */
        public Settings origins(Set<String> value) {
            origins = ImmutableSet.copyOf(value);
            return this;
        }

        /** Serves the ML backend protocol of this Label Studio below {@code /label-studio}. */
        public Settings labelStudio(LabelStudio value) {
            labelStudio = Optional.of(value);
            return this;
        }

        private InetAddress address() {
            try {
                return InetAddress.getByName(host);
            } catch (UnknownHostException e) {
                throw SaccadeException.user(
                        "host: got %s, expected an address of this machine, such as"
                                + " 127.0.0.1 or 0.0.0.0",
                        host);
            }
        }

        /**
         * Starts a server. Throws a user error if a setting is out of range or the port is in use.
         */
        public PredictionServer start() {
            Problems problems = new Problems();
            problems.addAll(
                    new Checks()
                            .inRange("score", score, 0, 1)
                            .inRange("port", port, 0, 0xFFFF)
                            .inRange("max batch", maxBatch, 1, QueueLimits.MAX_BATCH)
                            .problems());
            problems.throwIfAny("server");
            PredictionServer started = new PredictionServer(this);
            started.listen();
            return started;
        }
    }

    private void listen() {
        try {
            server.start();
            port = connector.getLocalPort();
        } catch (Exception e) {
            close();
            if (Throwables.getRootCause(e) instanceof SocketException) {
                throw SaccadeException.user(
                                e,
                                "%s port %d: cannot listen; the port is in use"
                                        + " or reserved, or the address does not belong to this"
                                        + " machine; choose another port or host, or port 0 for a"
                                        + " free port",
                                connector.getHost(),
                                connector.getPort())
                        .withSettings("port", "host");
            }
            throw SaccadeException.internal(e, "the server cannot be started");
        }
    }

    public int port() {
        return port;
    }

    /** Returns the URL of the page. */
    public URI uri() {
        String host = connector.getHost();
        String named = host.contains(":") ? "[" + host + "]" : host;
        return URI.create("http://" + named + ":" + port + "/");
    }

    /** Waits until the server is closed. */
    public void awaitShutdown() throws InterruptedException {
        ended.await();
    }

    /**
     * Rejects new requests, waits up to 30 seconds for running ones, then closes all connections.
     */
    @Override
    public void close() {
        tracker.close(SHUTDOWN_TIMEOUT);
        try {
            server.stop();
        } catch (Exception e) {
            throw SaccadeException.internal(e, "the server cannot be stopped: %s", e.getMessage());
        } finally {
            labelStudio.ifPresent(LabelStudioBackend::close);
            queue.close();
            ended.countDown();
        }
    }
}
