package dev.saccade.train.config;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.StemInit;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.nn.Module;
import dev.saccade.models.Model;
import dev.saccade.models.Provenance;
import dev.saccade.models.zoo.PretrainedWeights;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Weights that a run starts from; {@code published} is empty for a user's own file. */
public record InitialWeights(Path file, Optional<PretrainedWeights> published) {

    /** Value of {@code init_from} for training from scratch. */
    public static final String NONE = "none";

    private static final int MAX_NAMES = 4;

    static InitialWeights find(String name, Backbone.Config backbone) {
        if (isFile(name)) {
            return new InitialWeights(Path.of(name), Optional.empty());
        }
        if (isPath(name)) {
            throw SaccadeException.user(
                    "%s: no such file; expected a checkpoint, such as"
                            + " checkpoints/best.safetensors of a run",
                    name);
        }
        PretrainedWeights weights =
                known(() -> PretrainedWeights.named(name), "init_from: no such file, and ", "");
        if (!weights.fits(backbone)) {
            throw SaccadeException.user(
                    "init_from: %s does not match model.backbone (matching: %s); choose"
                            + " matching weights, a file, or none",
                    name, compatible(backbone));
        }
        String instead = "; or set a file, or none to train from scratch";
        return new InitialWeights(
                known(weights::require, "init_from: ", instead), Optional.of(weights));
    }

    private static <T> T known(Supplier<T> weights, String before, String after) {
        try {
            return weights.get();
        } catch (SaccadeException e) {
            throw SaccadeException.user("%s%s%s", before, e.getMessage(), after)
                    .withSettings("init-from");
        }
    }

    /** Returns whether a value looks like a file name rather than a name of published weights. */
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

    /** Lists at most 4 published weights for a backbone as text, classifiers first. */
    public static String compatible(Backbone.Config backbone) {
        String names =
                PretrainedWeights.forBackbone(backbone).stream()
                        .sorted(Comparator.comparing(weights -> weights.recipe().isPresent()))
                        .map(PretrainedWeights::name)
                        .limit(MAX_NAMES)
                        .collect(Collectors.joining(", "));
        return names.isEmpty() ? "no published weights" : names;
    }

    /** Loads weights, if any, into a model; returns lines for the log, such as warnings. */
    public static List<String> load(
            Optional<InitialWeights> initial, RunConfig config, Model<?> model) {
        List<String> notes = new ArrayList<>();
        if (initial.isPresent()) {
            notes.addAll(initial.get().load(model, config.stemInit()).toString().lines().toList());
            return notes;
        }
        if (config.initFrom().isPresent()) {
            notes.add(
                    "warning: training starts from scratch (init_from: none); pretrained weights for this"
                            + " backbone: "
                            + compatible(config.model().backbone()));
        }
        long frozen =
                model.backbone().namedParameters().values().stream()
                        .filter(p -> !Module.isBuffer(p) && !p.requiresGradient())
                        .count();
        if (frozen > 0) {
            notes.add(
                    Text.format(
                            "warning: %d parameters of the backbone are frozen and random; set"
                                    + " init_from, or model.backbone.frozen_stages=-1",
                            frozen));
        }
        return notes;
    }

    Checkpoint open() {
        return published.map(weights -> weights.open(file)).orElseGet(() -> Checkpoints.open(file));
    }

    private LoadReport load(Model<?> model, StemInit stemInit) {
        Checkpoint checkpoint = open();
        try {
            return model.initializeFrom(checkpoint, stemInit);
        } catch (SaccadeException e) {
            if (e.kind() != SaccadeException.Kind.USER) {
                throw e;
            }
            throw SaccadeException.user(e, "%s: %s", file, e);
        }
    }

    /** Returns name and checksum. Fails if the published checksum differs. */
    public Provenance.InitialWeights identify() {
        return new Provenance.InitialWeights(
                published
                        .map(PretrainedWeights::name)
                        .orElseGet(() -> file.getFileName().toString()),
                published
                        .map(weights -> weights.checksum(file))
                        .orElseGet(() -> Checkpoints.checksum(file)));
    }

    /** Returns a log line with the file's checksum. */
    public String describe(Provenance.InitialWeights identified) {
        return Text.format(
                "weights%s: %s, SHA-256 %s",
                published.map(weights -> " " + weights.name()).orElse(""),
                file,
                identified.sha256());
    }
}
