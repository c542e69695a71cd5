package dev.saccade.serve;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableSet;

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
 * Answers photographs over HTTP with what a model sees in them, and has a page to try it on.
 *
 * <pre>{@code
 * Detector detector = Detector.load(Path.of("best.safetensors"));
 * PredictionServer server = PredictionServer.of(detector).port(8080).start();
 * System.out.println("serving at " + server.uri());
 * }</pre>
 *
 * <p>The model may be used beside the server, which does not close it. A server listens on the
 * loopback interface unless told otherwise; it knows no users and no passwords. Nothing of a
 * request is written to disk.
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

    /** Returns the settings of a server, to be changed and started. */
    public static Settings of(TrainedModel<?> model) {
        return new Settings(model);
    }

    /** How a server is started. */
    public static final class Settings {

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

        /** Sets what the page and {@code /model} call the model. */
        public Settings name(String called) {
            name = requireNonNull(called, "name");
            return this;
        }

        /**
         * Sets the minimum score of objects for requests without {@code score} and the initial
         * value on the page; by default the detector's recommended score.
         */
        public Settings score(double least) {
            if (!(least >= 0 && least <= 1)) {
                throw SaccadeException.user("score: got %s, expected 0 to 1", least);
            }
            score = least;
            return this;
        }

        /** Sets the address that is listened on, such as {@code 0.0.0.0} for all of the machine. */
        public Settings host(String address) {
            host = requireNonNull(address, "host");
            return this;
        }

        /** Sets the port; 0, the default, is any that is free. */
        public Settings port(int number) {
            if (number < 0 || number > 0xFFFF) {
                throw SaccadeException.user("port: got %d, expected 0 to 65535", number);
            }
            port = number;
            return this;
        }

        /**
         * Sets how many batches the model looks at side by side; 2 by default, so that one is
         * computed while another is finished.
         */
        public Settings together(int batches) {
            if (batches < 1) {
                throw SaccadeException.user("together: got %d, expected 1 or more", batches);
            }
            together = batches;
            return this;
        }

        /**
         * Sets how many small photographs that wait go through a detector together; 4 by default.
         * With 1 each answer is that of {@code Detector.detect}, bit for bit; else it differs by
         * rounding. A segmenter looks at each alone.
         */
        public Settings maxBatch(int photographs) {
            if (photographs < 1) {
                throw SaccadeException.user("max batch: got %d, expected 1 or more", photographs);
            }
            maxBatch = photographs;
            return this;
        }

        private int mostBatch() {
            return ModelFacts.segments(model) ? 1 : maxBatch;
        }

        /** Sets what is taken from clients. */
        public Settings limits(ServerLimits those) {
            limits = requireNonNull(those, "limits");
            return this;
        }

        /**
         * Allows pages of other origins to ask, such as {@code https://example.org}; none by
         * default.
         */
        public Settings origins(Set<String> allowed) {
            origins = ImmutableSet.copyOf(allowed);
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
         * @throws SaccadeException of kind user, if the address cannot be listened on, such as a
         *     port that another program has
         */
        public PredictionServer start() {
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
