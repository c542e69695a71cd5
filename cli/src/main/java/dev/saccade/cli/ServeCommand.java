package dev.saccade.cli;

import com.google.common.collect.ImmutableSet;

import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.models.TrainedModel;
import dev.saccade.serve.PredictionServer;
import dev.saccade.serve.ServerLimits;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Serves predictions over HTTP until interrupted. */
@Command(
        name = "serve",
        description = {
            "Serve a model over HTTP: a page to drop photographs on, and JSON for programs.",
            "Ctrl-C or SIGTERM ends it, once what it has begun is answered. There is no"
                    + " authentication; it listens on this machine alone unless told otherwise."
        },
        footer = {
            "",
            "Example:  saccade serve runs/demo --port 8080",
            "          curl --data-binary @photo.jpg localhost:8080/predict"
        })
final class ServeCommand extends BaseCommand {

    private static final int MEGABYTE = 1 << 20;
    private static final int MEGAPIXEL = 1_000_000;
    private static final int MOST_MEGABYTES = ServerLimits.MOST_UPLOAD_BYTES / MEGABYTE;
    private static final int MOST_MEGAPIXELS = (int) (ImageInfo.MAX_PIXELS / MEGAPIXEL);
    private static final int MOST_TOGETHER = 1000;

    /** What a browser sends: never a path, nor a last slash. */
    private static final Pattern ORIGIN = Pattern.compile("https?://[^/\\s]+");

    @Mixin private RunArgument run;
    @Mixin private TtaOptions tta;
    @Mixin private ComputeOptions compute;

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description =
                    "The address to listen on; ${DEFAULT-VALUE}, this machine alone, by default;"
                            + " 0.0.0.0 for everyone who can reach it.")
    private String host;

    @Option(
            names = "--port",
            paramLabel = "N",
            defaultValue = "8080",
            description =
                    "The port to listen on; ${DEFAULT-VALUE} by default; 0 for any that is free.")
    private int port;

    @Option(
            names = "--cors",
            paramLabel = "ORIGIN",
            description =
                    "Allow pages of this origin to send requests, such as https://example.org.")
    private List<String> origins = List.of();

    @Option(
            names = "--together",
            paramLabel = "N",
            defaultValue = "2",
            description = "Number of batches computed in parallel; ${DEFAULT-VALUE} by default.")
    private int together;

    @Option(
            names = "--max-batch",
            paramLabel = "N",
            defaultValue = "4",
            description =
                    "Maximum number of small waiting images in a detector's batch;"
                            + " ${DEFAULT-VALUE} by default. With 1 answers are those of predict,"
                            + " bit for bit.")
    private int maxBatch;

    @Option(
            names = "--max-queue",
            paramLabel = "N",
            defaultValue = "128",
            description =
                    "Maximum number of waiting images; ${DEFAULT-VALUE} by default. Further"
                            + " requests get status 503 and Retry-After.")
    private int queue;

    @Option(
            names = "--max-upload",
            paramLabel = "MB",
            defaultValue = "32",
            description = "Maximum megabytes per request; ${DEFAULT-VALUE} by default.")
    private int megabytes;

    @Option(
            names = "--max-pixels",
            paramLabel = "MP",
            defaultValue = "64",
            description = "Maximum megapixels per image; ${DEFAULT-VALUE} by default.")
    private int megapixels;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description =
                    "Seconds a client may take to send a request, or to receive the response;"
                            + " ${DEFAULT-VALUE} by default.")
    private int seconds;

    @Override
    public Integer call() throws InterruptedException {
        requireNoErrors();
        Path checkpoint = run.checkpoint();
        try (TrainedModel<?> model = tta.load(checkpoint, compute);
                PredictionServer server = settings(model).start()) {
            PrintWriter out = out();
            out.printf(Locale.ROOT, "serving %s at %s%n", run.name(), server.uri());
            out.flush();
            if (!isLoopback()) {
                err().println(
                                "Whoever reaches this address may use it: there is no"
                                        + " authentication and no encryption. Put a reverse proxy"
                                        + " that has both in front of it.");
            }
            return StopSignal.during(() -> untilEnd(server), server::close);
        }
    }

    private static int untilEnd(PredictionServer server) {
        try {
            server.awaitEnd();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    /** Reports all mistaken options before loading a model. */
    private void requireNoErrors() {
        Checks checks =
                new Checks()
                        .inRange("--port", port, 0, 0xFFFF)
                        .inRange("--together", together, 1, MOST_TOGETHER)
                        .inRange("--max-batch", maxBatch, 1, MOST_TOGETHER)
                        .inRange("--max-queue", queue, 1, ServerLimits.MOST_QUEUE)
                        .inRange("--max-upload", megabytes, 1, MOST_MEGABYTES)
                        .inRange("--max-pixels", megapixels, 1, MOST_MEGAPIXELS)
                        .inRange(
                                "--timeout",
                                seconds,
                                1,
                                ServerLimits.MOST_TIMEOUT.toMillis() / 1000.0);
        Problems problems = new Problems();
        problems.addAll(checks.problems());
        for (String origin : origins) {
            if (!ORIGIN.matcher(origin).matches()) {
                problems.add("--cors: got %s, expected such as https://example.org", origin);
            }
        }
        problems.throwIfAny("serve");
    }

    private PredictionServer.Settings settings(TrainedModel<?> model) {
        return PredictionServer.of(model)
                .name(run.name())
                .host(host)
                .port(port)
                .together(together)
                .maxBatch(maxBatch)
                .origins(ImmutableSet.copyOf(origins))
                .limits(
                        new ServerLimits(
                                megabytes * MEGABYTE,
                                megapixels * MEGAPIXEL,
                                queue,
                                ServerLimits.DEFAULT.connections(),
                                Duration.ofSeconds(seconds)));
    }

    private boolean isLoopback() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
