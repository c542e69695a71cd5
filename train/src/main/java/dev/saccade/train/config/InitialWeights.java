package dev.saccade.train.config;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Module;
import dev.saccade.core.parts.Backbone;
import dev.saccade.models.Model;
import dev.saccade.models.zoo.PretrainedWeights;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a run starts from.
 *
 * @param file a checkpoint
 * @param published what it is by name; empty for a file of the user's own
 */
public record InitialWeights(Path file, Optional<PretrainedWeights> published) {

    /** What {@code init_from} says where a run is to start from nothing. */
    public static final String NONE = "none";

    private static final int MOST_NAMES = 4;

    static InitialWeights find(String name, Backbone.Config backbone) {
        if (isFile(name)) {
            return new InitialWeights(Path.of(name), Optional.empty());
        }
        if (isPath(name)) {
            throw SaccadeException.user(
                    "%s: there is no such file; expected a checkpoint, such as"
                            + " checkpoints/best.safetensors of a run",
                    name);
        }
        PretrainedWeights weights = named(name);
        if (!weights.fit(backbone)) {
            throw SaccadeException.user(
                    "init_from: %s are weights of another backbone than model.backbone; %s fit it;"
                            + " name one of those, a file to take what fits, or none",
                    name, fitting(backbone));
        }
        return new InitialWeights(required(weights), Optional.of(weights));
    }

    private static PretrainedWeights named(String name) {
        try {
            return PretrainedWeights.named(name);
        } catch (SaccadeException unknown) {
            throw SaccadeException.user(
                    "init_from: there is no such file, and %s", unknown.getMessage());
        }
    }

    private static Path required(PretrainedWeights weights) {
        try {
            return weights.require();
        } catch (SaccadeException absent) {
            throw SaccadeException.user(
                            "init_from: %s; or name a file, or train from scratch with none",
                            absent.getMessage())
                    .withSettings("init-from");
        }
    }

    /** Returns whether something is a file by its name, whatever is there. */
    public static boolean isPath(String name) {
        return name.matches(".*[/\\\\].*|.*\\.[A-Za-z]\\w*");
    }

    private static boolean isFile(String name) {
        try {
            return Files.isRegularFile(Path.of(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** Returns the names of published weights of a backbone, those of classifiers first. */
    public static String fitting(Backbone.Config backbone) {
        String names =
                PretrainedWeights.fitting(backbone).stream()
                        .sorted(Comparator.comparing(weights -> weights.recipe().isPresent()))
                        .map(PretrainedWeights::name)
                        .limit(MOST_NAMES)
                        .collect(Collectors.joining(", "));
        return names.isEmpty() ? "no published ones" : names;
    }

    /**
     * Loads weights into a model, and returns lines for the log: about them, or warnings if there
     * are none.
     */
    public static List<String> load(
            Optional<InitialWeights> initial, RunConfig config, Model<?> model) {
        List<String> notes = new ArrayList<>();
        if (initial.isPresent()) {
            notes.add(initial.get().describe());
            notes.addAll(initial.get().load(model).toString().lines().toList());
            return notes;
        }
        if (config.initFrom().isPresent()) {
            notes.add(
                    "warning: the run starts from nothing, as init_from says; of this backbone there"
                            + " are published weights: "
                            + fitting(config.model().backbone()));
        }
        long frozen =
                model.backbone().namedParameters().values().stream()
                        .filter(p -> !Module.isBuffer(p) && !p.requiresGradient())
                        .count();
        if (frozen > 0) {
            notes.add(
                    Text.format(
                            "warning: %d parameters of the backbone are frozen and start from"
                                    + " nothing; name weights with init_from, or set"
                                    + " model.backbone.frozen_stages=-1",
                            frozen));
        }
        return notes;
    }

    Checkpoint open() {
        return published.map(weights -> weights.open(file)).orElseGet(() -> Checkpoints.open(file));
    }

    private LoadReport load(Model<?> model) {
        Checkpoint checkpoint = open();
        try {
            return model.initializeFrom(checkpoint);
        } catch (SaccadeException e) {
            if (e.kind() != SaccadeException.Kind.USER) {
                throw e;
            }
            throw SaccadeException.user(e, "%s: %s", file, e);
        }
    }

    /**
     * Returns what the file is, with its checksum, for the log.
     *
     * @throws SaccadeException of kind user, if another checksum is published
     */
    String describe() {
        return Text.format(
                "weights%s: %s, SHA-256 %s",
                published.map(weights -> " " + weights.name()).orElse(""),
                file,
                published
                        .map(weights -> weights.checksum(file))
                        .orElseGet(() -> Checkpoints.checksum(file)));
    }
}
