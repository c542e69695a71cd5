package dev.saccade.cli;

import com.google.common.collect.ImmutableSet;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.TrainedModel;
import dev.saccade.serve.Limits;
import dev.saccade.serve.PredictionServer;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

/** Answers photographs over HTTP until it is told to end. */
@Command(
        name = "serve",
        description = {
            "Serve a model over HTTP: a page to drop photographs on, and JSON for programs.",
            "Ctrl-C or SIGTERM ends it, once what it has begun is answered. There is no"
                    + " authentication; it listens on this machine alone unless told otherwise."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade serve runs/demo --port 8080",
            "          curl --data-binary @photo.jpg localhost:8080/predict"
        })
final class ServeCommand implements Callable<Integer> {

    private static final int MEGABYTE = 1 << 20;
    private static final int MEGAPIXEL = 1_000_000;

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private ViewOptions views;
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
            description = "Let pages of this origin ask, such as https://example.org; none else.")
    private List<String> origins = List.of();

    @Option(
            names = "--together",
            paramLabel = "N",
            defaultValue = "2",
            description =
                    "How many batches are computed side by side; ${DEFAULT-VALUE} by default.")
    private int together;

    @Option(
            names = "--max-batch",
            paramLabel = "N",
            defaultValue = "4",
            description =
                    "Most small photographs that go through a detector together, if they wait;"
                            + " ${DEFAULT-VALUE} by default. With 1 answers are those of predict,"
                            + " bit for bit.")
    private int maxBatch;

    @Option(
            names = "--max-queue",
            paramLabel = "N",
            defaultValue = "128",
            description =
                    "Most photographs that wait; ${DEFAULT-VALUE} by default. More are answered 503"
                            + " and when to try again.")
    private int queue;

    @Option(
            names = "--max-upload",
            paramLabel = "MB",
            defaultValue = "32",
            description = "Most megabytes of a request; ${DEFAULT-VALUE} by default.")
    private int uploadMegabytes;

    @Option(
            names = "--max-pixels",
            paramLabel = "MP",
            defaultValue = "64",
            description = "Most millions of pixels of a photograph; ${DEFAULT-VALUE} by default.")
    private int megapixels;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description =
                    "How long a client may take to send a request, or to take its answer;"
                            + " ${DEFAULT-VALUE} by default.")
    private int seconds;

    @Override
    public Integer call() throws InterruptedException {
        Limits limits = limits();
        try (TrainedModel<?> model = views.load(run.checkpoint(), compute);
                PredictionServer server =
                        PredictionServer.of(model)
                                .name(run.name())
                                .host(host)
                                .port(port)
                                .together(together)
                                .maxBatch(maxBatch)
                                .origins(ImmutableSet.copyOf(origins))
                                .limits(limits)
                                .start()) {
            PrintWriter out = spec.commandLine().getOut();
            out.printf("serving %s at %s%n", run.name(), server.uri());
            out.flush();
            if (!isLoopback()) {
                spec.commandLine()
                        .getErr()
                        .println(
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

    private Limits limits() {
        ConfigArguments.requirePositive("--together", together);
        ConfigArguments.requirePositive("--max-batch", maxBatch);
        ConfigArguments.requirePositive("--max-upload", uploadMegabytes);
        ConfigArguments.requirePositive("--max-pixels", megapixels);
        try {
            return new Limits(
                    clamped((long) uploadMegabytes * MEGABYTE),
                    clamped((long) megapixels * MEGAPIXEL),
                    queue,
                    Limits.DEFAULT.connections(),
                    Duration.ofSeconds(seconds));
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s", e.getMessage());
        }
    }

    private static int clamped(long number) {
        return (int) Math.min(Integer.MAX_VALUE, number);
    }

    private boolean isLoopback() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
