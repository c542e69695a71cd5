package dev.saccade.train.mlflow;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.core.Checks;
import dev.saccade.core.Printable;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.train.RunFolder;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.LogVars;
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
import java.util.TreeMap;

/**
 * Tells a tracking server of MLflow of a run: settings as params, what each step and each
 * evaluation was like as metrics, and at the end the config and the logs as files, with the path of
 * the best checkpoint as a tag.
 *
 * <p>A run that is resumed goes on in the same run of MLflow; {@value #IDENTITY} in its folder
 * names it. A server that is away stops no training: it is told once, and what it has missed, up to
 * {@value #MOST_WAITING} numbers, is sent when it is back. Of several ranks, 0 tells.
 */
public final class MlflowHook implements Hook {

    /**
     * How a config names it.
     *
     * @param uri of the server; a token in the variable {@code MLFLOW_TRACKING_TOKEN} is sent along
     * @param experiment the name of the experiment, made where there is none
     */
    @Part("mlflow")
    public record Config(
            @Default("http://localhost:5000") String uri, @Default("saccade") String experiment)
            implements Hook.Config {

        /** Checks the values. */
        public Config {
            Checks.require(
                    uri.matches("https?://[^\\s/?#]+(/[^\\s?#]*)?"),
                    "uri",
                    uri,
                    "the address of a server, such as http://localhost:5000");
            Checks.require(!experiment.isBlank(), "experiment", experiment, "a name");
        }

        @Override
        public MlflowHook build() {
            Optional<String> token = Optional.ofNullable(System.getenv("MLFLOW_TRACKING_TOKEN"));
            return new MlflowHook(this, new MlflowServer(URI.create(uri), token));
        }
    }

    private static final String IDENTITY = "mlflow_run";
    private static final int MOST_WAITING = 100_000;
    private static final int METRICS_AT_ONCE = 1000;
    private static final int PARAMS_AT_ONCE = 100;
    private static final int LONGEST_PARAM = 500;

    private final Config config;
    private final MlflowServer server;
    private final List<Map<String, Object>> waiting = new ArrayList<>();
    private Optional<Run> started = Optional.empty();
    private Optional<String> identity = Optional.empty();
    private boolean away;
    private boolean endedWell;

    private MlflowHook(Config config, MlflowServer server) {
        this.config = config;
        this.server = server;
    }

    @Override
    public void beforeTrain(Run run) {
        if (run.ranks().rank() == 0) {
            started = Optional.of(run);
            tell(run, () -> {});
        }
    }

    @Override
    public void afterStep(Run run, StepReport step) {
        LogVars learning = step.logVars();
        metric("train/loss", learning.loss(), step.iteration());
        metric("train/learning_rate", step.learningRate(), step.iteration());
        learning.losses()
                .forEach((name, value) -> metric("train/" + name, value, step.iteration()));
        learning.metrics()
                .forEach((name, value) -> metric("train/" + name, value, step.iteration()));
        if (waiting.size() >= METRICS_AT_ONCE && !away) {
            started.ifPresent(told -> tell(told, () -> {}));
        }
    }

    @Override
    public void afterEpoch(Run run) {
        started.ifPresent(told -> tell(told, () -> {}));
    }

    @Override
    public void afterEvaluation(Run run, EvaluationReport evaluation) {
        evaluation
                .metrics()
                .forEach((name, value) -> metric("eval/" + name, value, evaluation.iteration()));
        started.ifPresent(told -> tell(told, () -> {}));
    }

    @Override
    public void afterTrain(Run run) {
        endedWell = true;
        started.ifPresent(told -> tell(told, () -> end(told)));
    }

    @Override
    public void close() {
        if (!endedWell) {
            started.ifPresent(
                    told ->
                            tell(
                                    told,
                                    () -> server.update(identity.orElseThrow(), "FAILED", now())));
        }
    }

    private void end(Run run) throws IOException {
        RunFolder folder = new RunFolder(run.folder());
        String best = folder.best().toAbsolutePath().toString();
        server.log(
                identity.orElseThrow(),
                List.of(),
                List.of(),
                List.of(ImmutableMap.of("key", "best_checkpoint", "value", best)));
        for (Path file : List.of(folder.config(), folder.log(), folder.metrics())) {
            if (Files.isRegularFile(file)) {
                server.upload(identity.orElseThrow(), file);
            }
        }
        server.update(identity.orElseThrow(), "FINISHED", now());
    }

    private static Optional<Long> now() {
        return Optional.of(System.currentTimeMillis());
    }

    private void metric(String name, double value, long iteration) {
        if (started.isPresent() && Double.isFinite(value) && waiting.size() < MOST_WAITING) {
            waiting.add(
                    ImmutableMap.of(
                            // Other characters than these MLflow refuses.
                            "key",
                            name.replaceAll("[^\\w./ -]", "_"),
                            "value",
                            value,
                            "timestamp",
                            System.currentTimeMillis(),
                            "step",
                            iteration));
        }
    }

    /** What is asked of the server, which may be away. */
    @FunctionalInterface
    private interface Request {

        void send() throws IOException;
    }

    private void tell(Run run, Request last) {
        try {
            if (identity.isEmpty()) {
                identity = Optional.of(begin(run));
            }
            while (!waiting.isEmpty()) {
                List<Map<String, Object>> next =
                        waiting.subList(0, Math.min(METRICS_AT_ONCE, waiting.size()));
                server.log(identity.get(), next, List.of(), List.of());
                next.clear();
            }
            last.send();
            away = false;
        } catch (IOException e) {
            if (!away) {
                away = true;
                run.note(
                        Printable.format(
                                "MLflow at %s is not told of this run for now: %s",
                                config.uri(),
                                e.getMessage() == null ? e.toString() : e.getMessage()));
            }
        }
    }

    /** Returns the run of MLflow, that of before where this one is resumed. */
    private String begin(Run run) throws IOException {
        Path file = run.folder().resolve(IDENTITY);
        if (Files.isRegularFile(file)) {
            String before = Files.readString(file).strip();
            if (before.matches("\\w+") && server.hasRun(before)) {
                server.update(before, "RUNNING", Optional.empty());
                return before;
            }
        }
        String name = run.folder().toAbsolutePath().getFileName().toString();
        String begun =
                server.createRun(
                        server.experiment(config.experiment()), name, System.currentTimeMillis());
        Map<String, String> settings = new TreeMap<>();
        Path yaml = new RunFolder(run.folder()).config();
        if (Files.isRegularFile(yaml)) {
            flatten("", ConfigFile.load(yaml, List.of()), settings);
        }
        List<Map<String, Object>> params = new ArrayList<>();
        settings.forEach(
                (key, value) -> params.add(ImmutableMap.of("key", key, "value", shortened(value))));
        for (List<Map<String, Object>> some : Iterables.partition(params, PARAMS_AT_ONCE)) {
            server.log(begun, List.of(), some, List.of());
        }
        Files.writeString(file, begun);
        return begun;
    }

    private static String shortened(String value) {
        return value.substring(0, Math.min(value.length(), LONGEST_PARAM));
    }

    private static void flatten(String path, ConfigNode node, Map<String, String> settings) {
        if (node instanceof ConfigNode.Mapping mapping) {
            String start = path.isEmpty() ? "" : path + ".";
            mapping.entries().forEach((key, child) -> flatten(start + key, child, settings));
        } else if (node instanceof ConfigNode.Sequence sequence) {
            for (int i = 0; i < sequence.items().size(); i++) {
                flatten(path + "." + i, sequence.items().get(i), settings);
            }
        } else if (node instanceof ConfigNode.Scalar scalar) {
            settings.put(path, scalar.value().toString());
        }
    }
}
