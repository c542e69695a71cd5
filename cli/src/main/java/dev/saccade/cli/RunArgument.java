package dev.saccade.cli;

import dev.saccade.core.Printable;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Argument of commands that need a trained model: a run or a checkpoint. */
final class RunArgument {

    @Parameters(
            index = "0",
            paramLabel = "RUN",
            description = "Use this checkpoint, or the best checkpoint of this run.")
    private Path run;

    static RunArgument of(Path run) {
        RunArgument argument = new RunArgument();
        argument.run = run;
        return argument;
    }

    /** Returns the given checkpoint, or the best or else the last checkpoint of a run. */
    Path checkpoint() {
        PathKind.require(
                run,
                "a run folder written by train, or a checkpoint" + suggestion(),
                PathKind.RUN,
                PathKind.CHECKPOINT,
                PathKind.OTHER_FILE);
        return weightsOf(run);
    }

    /** Returns the best or else the last checkpoint of a run, or any other path unchanged. */
    static Path weightsOf(Path named) {
        return PathKind.find(named) == PathKind.RUN ? new RunFolder(named).best() : named;
    }

    private String suggestion() {
        return PathKind.find(run) == PathKind.IMAGE ? "; put the images after RUN" : nearbyRun();
    }

    /** Returns a suggestion of a run or checkpoint near the given path, or an empty string. */
    private String nearbyRun() {
        Path name = run.toAbsolutePath().normalize().getFileName();
        String stem = name == null ? "" : name.toString().replaceFirst("\\.ya?ml$", "");
        return Stream.of(Path.of("runs", stem), run.resolve(".."))
                .filter(path -> !path.equals(run) && PathKind.find(path) == PathKind.RUN)
                .findFirst()
                .or(() -> PathKind.checkpointIn(run))
                .map(path -> Printable.format(", such as %s", path.normalize()))
                .orElse("");
    }

    String name() {
        return run.toAbsolutePath().normalize().getFileName().toString();
    }

    /** Returns the name of the run; for a checkpoint of a run, such as {@code demo-quantized}. */
    String exportName() {
        boolean isOfRun = Files.isRegularFile(run) && hasConfig();
        return isOfRun
                ? folder().toAbsolutePath().normalize().getFileName() + "-" + stem()
                : stem();
    }

    private String stem() {
        return name().replaceFirst("\\.(safetensors|pth|pt)$", "");
    }

    /**
     * Returns the folder of the run; for a checkpoint, the folder of the file if it has a config,
     * or else the folder above, which may not exist.
     */
    private Path folder() {
        if (!Files.isRegularFile(run)) {
            return run;
        }
        Path parent = run.toAbsolutePath().resolve("..").normalize();
        boolean isRun = PathKind.find(parent) == PathKind.RUN;
        return isRun ? parent : parent.resolve("..").normalize();
    }

    /**
     * Returns the default file for the quantized model: {@code quantized.safetensors} of a run, or
     * a file next to a checkpoint.
     */
    Path quantizedFile() {
        return PathKind.find(run) == PathKind.RUN
                ? run.resolve("quantized.safetensors")
                : run.resolveSibling(stem() + "_quantized.safetensors");
    }

    /** Rejects the given options, which need a detector, for other models. */
    void requireOptionsFor(TrainedModel<?> model, CommandSpec command, String... options) {
        if (model.match(detector -> true, segmenter -> false, classifier -> false)) {
            return;
        }
        Problems problems = new Problems();
        for (String option : options) {
            if (command.commandLine().getParseResult().hasMatchedOption(option)) {
                problems.add(
                        "%s applies to detectors only; this model is a %s",
                        option,
                        model.<String>match(
                                detector -> "detector",
                                segmenter -> "segmenter",
                                classifier -> "classifier"));
            }
        }
        problems.throwIfAny(run.toString());
    }

    /** Returns whether the run has a config file, which names the validation set. */
    boolean hasConfig() {
        return Files.isRegularFile(folder().resolve("config.yaml"));
    }

    /** Returns the config of the run; {@code data} replaces the data set folder. */
    RunConfig config(Optional<Path> data) {
        Path config = folder().resolve("config.yaml");
        if (!Files.isRegularFile(config)) {
            throw SaccadeException.user(
                    "%s: not found, so the data set is unknown; expected the folder of"
                            + " a run, or a checkpoint in it",
                    config);
        }
        String[] overrides = data.map(DataOption::override).stream().toArray(String[]::new);
        return RunConfig.load(config, overrides);
    }
}
