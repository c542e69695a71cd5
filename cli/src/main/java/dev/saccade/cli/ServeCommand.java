package dev.saccade.cli;

import com.google.common.collect.ImmutableSet;

import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.models.TrainedModel;
import dev.saccade.serve.LabelStudio;
import dev.saccade.serve.PredictionServer;
import dev.saccade.serve.ServerLimits;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

@Command(
        name = "serve",
        description = {
            "Serve a model over HTTP, with a web page to try it and a JSON API.",
            "Ctrl-C and SIGTERM stop the server once running requests have finished. It has"
                    + " no authentication; by default only this machine can connect."
        },
        footer = {
            "",
            "Example:  saccade serve runs/demo --port 8080",
            "          curl --data-binary @photo.jpg localhost:8080/predict"
        })
final class ServeCommand extends BaseCommand {

    private static final int MEGABYTE = 1 << 20;
    private static final int MEGAPIXEL = 1_000_000;
    private static final int MAX_MEGABYTES = ServerLimits.MAX_UPLOAD_BYTES / MEGABYTE;
    private static final int MAX_MEGAPIXELS = (int) (ImageInfo.MAX_PIXELS / MEGAPIXEL);
    private static final int MAX_BATCH = 1000;

    private static final String TOKEN = "LABEL_STUDIO_API_KEY";

    private static final DateTimeFormatter VERSION =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

    /** Browsers send an origin without a path or trailing slash. */
    private static final Pattern ORIGIN = Pattern.compile("https?://[^/\\s]+");

    @Mixin private RunArgument run;
    @Mixin private TtaOptions tta;
    @Mixin private ComputeOptions compute;

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description =
                    "Listen on this address. Default: ${DEFAULT-VALUE}, for this"
                            + " machine only; 0.0.0.0 accepts connections from other machines.")
    private String host;

    @Option(
            names = "--port",
            paramLabel = "N",
            defaultValue = "8080",
            description = "Listen on this port; 0 selects a free one. Default: ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--cors",
            paramLabel = "ORIGIN",
            description =
                    "Allow requests from web pages of this origin, such as"
                            + " https://example.org.")
    private List<String> origins = List.of();

    @Option(
            names = "--max-batch",
            paramLabel = "N",
            defaultValue = "4",
            description =
                    "Set the maximum batch size of a detector; only waiting small images"
                            + " are batched. On GPUs, responses equal the results of predict bit"
                            + " for bit only with 1. Default: ${DEFAULT-VALUE}.")
    private int maxBatch;

    @Option(
            names = "--max-queue",
            paramLabel = "N",
            defaultValue = "128",
            description =
                    "Set the maximum number of waiting images. Requests beyond it get"
                            + " status 503 with Retry-After. Default: ${DEFAULT-VALUE}.")
    private int queue;

    @Option(
            names = "--max-upload",
            paramLabel = "MB",
            defaultValue = "32",
            description = "Set the maximum size of a request in MB. Default: ${DEFAULT-VALUE}.")
    private int megabytes;

    @Option(
            names = "--max-pixels",
            paramLabel = "MP",
            defaultValue = "64",
            description =
                    "Set the maximum size of an image in megapixels. Default:"
                            + " ${DEFAULT-VALUE}.")
    private int megapixels;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description =
                    "Set the maximum time in seconds for a client to send a request,"
                            + " and to receive the response. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--label-studio",
            paramLabel = "URL",
            description =
                    "Serve as the ML backend of this Label Studio, below /label-studio. Images"
                            + " are fetched from this URL only, with the access token in"
                            + " LABEL_STUDIO_API_KEY.")
    private String labelStudio;

    @Override
    public Integer call() throws InterruptedException {
        requireValidOptions();
        Path checkpoint = run.checkpoint();
        Optional<LabelStudio> studio = studio();
        try (TrainedModel<?> model = tta.load(checkpoint, compute);
                PredictionServer server = settings(model, checkpoint, studio).start()) {
            PrintWriter out = out();
            out.printf(
                    Locale.ROOT,
                    "serving %s%s at %s%n",
                    run.name(),
                    model.spec().quantizedLayers().isEmpty() ? "" : " (quantized)",
                    server.uri());
            studio.ifPresent(
                    host ->
                            out.printf(
                                    Locale.ROOT,
                                    "ML backend for Label Studio at %s: add the model %slabel-studio%n",
                                    host.host(),
                                    server.uri()));
            out.flush();
            if (!isLoopback()) {
                err().println(
                                "warning: other machines can connect to this server"
                                        + " without authentication or encryption; put a reverse"
                                        + " proxy with both in front of it");
            }
            return StopSignal.run(() -> awaitShutdown(server), server::close);
        }
    }

    private static int awaitShutdown(PredictionServer server) {
        try {
            server.awaitShutdown();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    /** Rejects invalid options before the model is loaded; the error lists all of them. */
    private void requireValidOptions() {
        Checks checks =
                new Checks()
                        .inRange("--port", port, 0, 0xFFFF)
                        .inRange("--max-batch", maxBatch, 1, MAX_BATCH)
                        .inRange("--max-queue", queue, 1, ServerLimits.MAX_QUEUE)
                        .inRange("--max-upload", megabytes, 1, MAX_MEGABYTES)
                        .inRange("--max-pixels", megapixels, 1, MAX_MEGAPIXELS)
                        .inRange(
                                "--timeout",
                                seconds,
                                1,
                                ServerLimits.MAX_TIMEOUT.toMillis() / 1000.0);
        Problems problems = new Problems();
        problems.addAll(checks.problems());
        for (String origin : origins) {
            if (!ORIGIN.matcher(origin).matches()) {
                problems.add(
                        "--cors: got %s, expected an origin such as https://example.org", origin);
            }
        }
        problems.throwIfAny("serve");
    }

    private Optional<LabelStudio> studio() {
        String token = Optional.ofNullable(System.getenv(TOKEN)).orElse("").strip();
        Optional<LabelStudio> studio =
                Optional.ofNullable(labelStudio).map(url -> LabelStudio.of(url, token));
        if (studio.isPresent() && token.isEmpty()) {
            err().println(
                            "warning: "
                                    + TOKEN
                                    + " is not set; Label Studio rejects requests for images"
                                    + " without an access token");
        }
        return studio;
    }

    private PredictionServer.Settings settings(
            TrainedModel<?> model, Path checkpoint, Optional<LabelStudio> studio) {
        PredictionServer.Settings settings = settings(model).version(version(checkpoint));
        return studio.map(settings::labelStudio).orElse(settings);
    }

    /** Returns the time of a checkpoint, which distinguishes the versions of a retrained model. */
    private static String version(Path checkpoint) {
        try {
            return VERSION.format(Files.getLastModifiedTime(checkpoint).toInstant());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", checkpoint, e.getMessage());
        }
    }

    private PredictionServer.Settings settings(TrainedModel<?> model) {
        return PredictionServer.of(model)
                .name(run.name())
                .host(host)
                .port(port)
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
