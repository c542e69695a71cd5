package dev.saccade.serve;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableSet;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
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
 * <p>The server does not close the model. By default it listens on the loopback interface; there is
 * no authentication. Requests are not written to disk.
 */
public final class PredictionServer implements AutoCloseable {

    private static final Duration LONGEST_END = Duration.ofSeconds(30);
    private static final int THREADS = 16;
    private static final int MOST_HEADER_BYTES = 8192;

    private final Server server;
    private final ServerConnector connector;
    private final PredictionQueue queue;
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
        Metrics metrics = new Metrics();
        metrics.connections(() -> connector.getConnectedEndPoints().size());
        metrics.underWay(tracker::count);
        ServerLimits limits = settings.limits;
        queue =
                new PredictionQueue(
                        settings.model, settings.together, settings.mostBatch(), limits, metrics);
        ConnectionTimeout timeout =
                new ConnectionTimeout(connector.getScheduler(), limits.timeout());
        connector.addBean(timeout);
        server.addBean(new NetworkConnectionLimit(limits.connections(), connector));
        Routes routes =
                new Routes(
                        settings.model,
                        ModelFacts.of(settings.model, settings.name, settings.score, limits),
                        limits,
                        queue,
                        metrics,
                        timeout,
                        new OriginFilter(address.isLoopbackAddress(), settings.origins),
                        tracker);
        server.addConnector(connector);
        server.setHandler(routes);
        server.setErrorHandler(new ProblemWriter());
    }

    private static HttpConnectionFactory http() {
        HttpConfiguration http = new HttpConfiguration();
        http.setRequestHeaderSize(MOST_HEADER_BYTES);
        http.setSendServerVersion(false);
        http.setSendXPoweredBy(false);
        http.setUriCompliance(UriCompliance.RFC3986);
        return new HttpConnectionFactory(http);
    }

    /** Returns the default settings of a server. */
    public static Settings of(TrainedModel<?> model) {
        return new Settings(model);
    }

    /** Settings of a server. */
    public static final class Settings {

        private static final int MOST_TOGETHER = 1000;

        private final TrainedModel<?> model;
        private String name = "model";
        private double score;
        private String host = InetAddress.getLoopbackAddress().getHostAddress();
        private int port;
        private int together = 2;
        private int maxBatch = 4;
        private ServerLimits limits = ServerLimits.DEFAULT;
        private Set<String> origins = ImmutableSet.of();

        private Settings(TrainedModel<?> model) {
            this.model = requireNonNull(model, "model");
            this.score =
                    model.<ScoreThresholds>match(
                                    detector -> detector.scoreThresholds(),
                                    segmenter -> ScoreThresholds.DEFAULT)
                            .overall();
        }

        /** Sets the name of the model on the page and at {@code /model}. */
        public Settings name(String value) {
            name = requireNonNull(value, "name");
            return this;
        }

        /**
         * Sets the minimum score of objects for requests without {@code score} and the initial
         * value on the page; by default the detector's recommended score.
         */
        public Settings score(double value) {
            score = value;
            return this;
        }

        /** Sets the address to listen on, such as {@code 0.0.0.0} for all of the machine. */
        public Settings host(String value) {
            host = requireNonNull(value, "host");
            return this;
        }

        /** Sets the port; 0, the default, for any free port. */
        public Settings port(int value) {
            port = value;
            return this;
        }

        /** Sets the number of batches computed in parallel; 2 by default. */
        public Settings together(int value) {
            together = value;
            return this;
        }

        /**
         * Sets the maximum number of small waiting images in a detector's batch; 4 by default. With
         * 1 each response equals {@code Detector.detect} bit for bit; else it differs by rounding.
         */
        public Settings maxBatch(int value) {
            maxBatch = value;
            return this;
        }

        private int mostBatch() {
            return ModelFacts.segments(model) ? 1 : maxBatch;
        }

        /** Sets the limits on clients. */
        public Settings limits(ServerLimits value) {
            limits = requireNonNull(value, "limits");
            return this;
        }

        /** Allows requests of pages of other origins, such as {@code https://example.org}. */
        public Settings origins(Set<String> value) {
            origins = ImmutableSet.copyOf(value);
            return this;
        }

        private InetAddress address() {
            try {
                return InetAddress.getByName(host);
            } catch (UnknownHostException e) {
                throw SaccadeException.user(
                        "host: got %s, expected an address of this machine, such as 127.0.0.1 or"
                                + " 0.0.0.0",
                        host);
            }
        }

        /**
         * Starts a server.
         *
         * @throws SaccadeException of kind user, if a setting is out of range or the address cannot
         *     be listened on, such as a port that another program has
         */
        public PredictionServer start() {
            Problems problems = new Problems();
            problems.addAll(
                    new Checks()
                            .inRange("score", score, 0, 1)
                            .inRange("port", port, 0, 0xFFFF)
                            .inRange("together", together, 1, MOST_TOGETHER)
                            .inRange("max batch", maxBatch, 1, MOST_TOGETHER)
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
                                "%s port %d: cannot listen on it: the port is in use or reserved, or"
                                        + " the address is not of this machine; choose another port or"
                                        + " host, or port 0 for a free port",
                                connector.getHost(),
                                connector.getPort())
                        .withSettings("port", "host");
            }
            throw SaccadeException.internal(e, "the server cannot be started");
        }
    }

    /** Returns the port that is listened on, or was. */
    public int port() {
        return port;
    }

    /** Returns the address of the page. */
    public URI uri() {
        String host = connector.getHost();
        String named = host.contains(":") ? "[" + host + "]" : host;
        return URI.create("http://" + named + ":" + port + "/");
    }

    /** Waits until the server has been closed. */
    public void awaitEnd() throws InterruptedException {
        ended.await();
    }

    /**
     * Ends the server: from now on it takes no photograph and says so at {@code /health}, answers
     * those that it has, for half a minute at most, and then closes all connections.
     */
    @Override
    public void close() {
        tracker.end(LONGEST_END);
        try {
            server.stop();
        } catch (Exception e) {
            throw SaccadeException.internal(e, "the server cannot be ended: %s", e.getMessage());
        } finally {
            queue.close();
            ended.countDown();
        }
    }
}
