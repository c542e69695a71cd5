package dev.saccade.mlflow;

import ai.djl.util.Utils;

import com.google.common.base.Ascii;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.config.ConfigFile;
import dev.saccade.core.Checks;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Logs a run to an MLflow tracking server: settings as params, steps and evaluations as metrics. At
 * the end, uploads config and logs as artifacts and adds the path of the best checkpoint as a tag.
 *
 * <p>A resumed run continues its MLflow run, whose id is in the file {@value #RUN_ID} of the run
 * folder. An unreachable server does not stop training: a warning is logged, and up to {@value
 * #MAX_PENDING} metrics are sent later. Only rank 0 logs.
 */
public final class MlflowHook implements Hook {

    /**
     * Settings of the hook.
     *
     * @param uri of the server; the environment variable {@code MLFLOW_TRACKING_TOKEN} is sent as
     *     the bearer token
     * @param experiment name of the experiment, created if missing
     */
    @Component("mlflow")
    public record Config(
            @Default("http://localhost:5000") String uri, @Default("saccade") String experiment)
            implements Hook.Config {

        public Config {
            Checks.require(
                    isAddress(uri),
                    "uri",
                    uri,
                    "a server URL, such as http://localhost:5000, without underscores in"
                            + " the host name");
            Checks.require(!experiment.isBlank(), "experiment", experiment, "a name");
        }

        private static boolean isAddress(String uri) {
            try {
                return uri.matches("https?://[^\\s/?#]+(/[^\\s?#]*)?")
                        && URI.create(uri).getHost() != null;
            } catch (IllegalArgumentException e) {
                return false;
            }
        }

        @Override
        public MlflowHook build() {
            String token = Utils.getEnvOrSystemProperty(TOKEN, "").strip();
            if (!token.matches("[!-~]*")) {
                throw SaccadeException.user(
                        "%s: contains a space, a line break or another invalid character", TOKEN);
            }
            return new MlflowHook(this, new MlflowClient(uri, token));
        }
    }

    private static final String TOKEN = "MLFLOW_TRACKING_TOKEN";
    private static final String RUN_ID = "mlflow_run";
    private static final int MAX_PENDING = 100_000;
    private static final int METRICS_PER_REQUEST = 1000;
    private static final int PARAMS_PER_REQUEST = 100;
    private static final int MAX_PARAM_LENGTH = 500;

    private final Config config;
    private final MlflowClient client;
    private final List<Map<String, Object>> params = new ArrayList<>();
    private final List<Map<String, Object>> metrics = new ArrayList<>();
    private Optional<Run> run = Optional.empty();
    private String runId = "";
    private boolean unreachable;
    private boolean rejected;
    private boolean finished;

    private MlflowHook(Config config, MlflowClient client) {
        this.config = config;
        this.client = client;
    }

    @Override
    public void beforeTrain(Run started) {
        if (started.ranks().rank() == 0) {
            run = Optional.of(started);
            send(() -> {});
        }
    }

    @Override
    public void afterStep(Run current, StepReport step) {
        add("train/", Map.of("loss", step.loss()), step.iteration());
        add("train/", Map.of("learning_rate", step.learningRate()), step.iteration());
        add("train/", step.losses(), step.iteration());
        add("train/", step.metrics(), step.iteration());
        if (metrics.size() >= METRICS_PER_REQUEST && !unreachable) {
            send(() -> {});
        }
    }

    @Override
    public void afterEpoch(Run current) {
        send(() -> {});
    }

    @Override
    public void afterEvaluation(Run current, EvaluationReport evaluation) {
        add("eval/", evaluation.metrics(), evaluation.iteration());
        send(() -> {});
    }

    @Override
    public void afterTrain(Run current) {
        finished = true;
        send(this::finish);
    }

    @Override
    public void close() {
        if (!finished) {
            send(() -> client.updateRun(runId, "FAILED", true));
        }
    }

    private void finish() throws IOException {
        RunFolder folder = new RunFolder(run.orElseThrow().folder());
        String best = folder.best().toAbsolutePath().toString();
        client.logBatch(runId, "tags", List.of(Map.of("key", "best_checkpoint", "value", best)));
        for (Path file : List.of(folder.config(), folder.log(), folder.metrics())) {
            if (Files.isRegularFile(file)) {
                client.logArtifact(runId, file);
            }
        }
        client.updateRun(runId, "FINISHED", true);
    }

    private void add(String prefix, Map<String, Double> values, long step) {
        values.forEach(
                (name, value) -> {
                    if (run.isPresent() && Double.isFinite(value) && metrics.size() < MAX_PENDING) {
                        // MLflow rejects other characters.
                        String key = (prefix + name).replaceAll("[^\\w./ -]", "_");
                        long now = System.currentTimeMillis();
                        metrics.add(
                                Map.of("key", key, "value", value, "timestamp", now, "step", step));
                    }
                });
    }

    private interface Request {
        void send() throws IOException;
    }

    /** Begins the MLflow run if needed; sends pending params and metrics, then {@code last}. */
    private void send(Request last) {
        if (run.isEmpty()) {
            return;
        }
        try {
            if (runId.isEmpty()) {
                begin(run.get());
            }
            send("params", params, PARAMS_PER_REQUEST);
            send("metrics", metrics, METRICS_PER_REQUEST);
            last.send();
            unreachable = false;
        } catch (IOException e) {
            if (!unreachable) {
                unreachable = true;
                log(
                        "MLflow at %s cannot be reached; metrics are sent later: %s",
                        config.uri(), e.getMessage());
            }
        }
    }

    /** Sends pending values. Drops values of rejected requests; keeps the rest after a failure. */
    private void send(String kind, List<Map<String, Object>> pending, int perRequest)
            throws IOException {
        while (!pending.isEmpty()) {
            List<Map<String, Object>> next =
                    pending.subList(0, Math.min(perRequest, pending.size()));
            try {
                client.logBatch(runId, kind, next);
            } catch (MlflowClient.RejectedRequest e) {
                if (!rejected) {
                    rejected = true;
                    log(
                            "MLflow at %s rejected some values; they are skipped: %s",
                            config.uri(), e.getMessage());
                }
            }
            next.clear();
        }
    }

    @FormatMethod
    private void log(@FormatString String message, Object... values) {
        run.orElseThrow().log(Printable.format(message, values));
    }

    /** Creates an MLflow run, or continues the MLflow run of a resumed run. */
    private void begin(Run started) throws IOException {
        Path file = started.folder().resolve(RUN_ID);
        String before = Files.isRegularFile(file) ? Files.readString(file).strip() : "";
        if (before.matches("\\w+") && client.hasRun(before)) {
            client.updateRun(before, "RUNNING", false);
            runId = before;
            return;
        }
        String name = started.folder().toAbsolutePath().getFileName().toString();
        runId = client.createRun(client.experiment(config.experiment()), name);
        Files.writeString(file, runId);
        Path yaml = new RunFolder(started.folder()).config();
        if (!Files.isRegularFile(yaml)) {
            return;
        }
        ConfigFile.load(yaml, List.of()).scalars().forEach(this::param);
    }

    private void param(String path, String value) {
        // MLflow rejects brackets.
        String key = path.replace('[', '.').replace("]", "");
        params.add(Map.of("key", key, "value", Ascii.truncate(value, MAX_PARAM_LENGTH, "")));
    }
}
