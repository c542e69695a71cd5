package dev.saccade.train.mlflow;

import ai.djl.util.Utils;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.core.Checks;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
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
                    isAddress(uri),
                    "uri",
                    uri,
                    "the address of a server, such as http://localhost:5000; names of servers have"
                            + " no underscores");
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
                        "%s: holds a blank, a line break or another character that no token has",
                        TOKEN);
            }
            return new MlflowHook(
                    this,
                    new MlflowServer(uri, Optional.of(token).filter(text -> !text.isEmpty())));
        }
    }

    private static final String TOKEN = "MLFLOW_TRACKING_TOKEN";

    private static final String IDENTITY = "mlflow_run";
    private static final int MOST_WAITING = 100_000;
    private static final int METRICS_AT_ONCE = 1000;
    private static final int PARAMS_AT_ONCE = 100;
    private static final int LONGEST_PARAM = 500;

    private final Config config;
    private final MlflowServer server;
    private final List<Map<String, Object>> params = new ArrayList<>();
    private final List<Map<String, Object>> waiting = new ArrayList<>();
    private Optional<Run> started = Optional.empty();
    private Optional<String> identity = Optional.empty();
    private boolean away;
    private boolean refused;
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
                begin(run);
            }
            String mine = identity.orElseThrow();
            send(run, params, PARAMS_AT_ONCE, some -> server.log(mine, List.of(), some, List.of()));
            send(
                    run,
                    waiting,
                    METRICS_AT_ONCE,
                    some -> server.log(mine, some, List.of(), List.of()));
            last.send();
            away = false;
        } catch (IOException e) {
            if (!away) {
                away = true;
                run.note(
                        Printable.format(
                                "MLflow at %s is not told of this run for now: %s",
                                config.uri(), e.getMessage()));
            }
        }
    }

    /** Takes a part of what is to be sent. */
    @FunctionalInterface
    private interface Batch {

        void send(List<Map<String, Object>> some) throws IOException;
    }

    /** Sends all, or what comes before the server is away; what it refuses is left out. */
    private void send(Run run, List<Map<String, Object>> all, int atOnce, Batch batch)
            throws IOException {
        while (!all.isEmpty()) {
            List<Map<String, Object>> next = all.subList(0, Math.min(atOnce, all.size()));
            try {
                batch.send(next);
            } catch (MlflowServer.Refusal e) {
                if (!refused) {
                    refused = true;
                    run.note(
                            Printable.format(
                                    "MLflow at %s refuses some of this run, which is left out: %s",
                                    config.uri(), e.getMessage()));
                }
            }
            next.clear();
        }
    }

    /** Begins a run of MLflow, or goes on with that of before where this one is resumed. */
    private void begin(Run run) throws IOException {
        Path file = run.folder().resolve(IDENTITY);
        if (Files.isRegularFile(file)) {
            String before = Files.readString(file).strip();
            if (before.matches("\\w+") && server.hasRun(before)) {
                server.update(before, "RUNNING", Optional.empty());
                identity = Optional.of(before);
                return;
            }
        }
        String name = run.folder().toAbsolutePath().getFileName().toString();
        String experiment = server.experiment(config.experiment());
        identity = Optional.of(server.createRun(experiment, name, System.currentTimeMillis()));
        Files.writeString(file, identity.get());
        Map<String, String> settings = new TreeMap<>();
        Path yaml = new RunFolder(run.folder()).config();
        if (Files.isRegularFile(yaml)) {
            flatten("", ConfigFile.load(yaml, List.of()), settings);
        }
        settings.forEach(
                (key, value) -> params.add(ImmutableMap.of("key", key, "value", shortened(value))));
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
