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

/** The argument of commands that start from something trained: a run, or one of its checkpoints. */
final class RunArgument {

    @Parameters(
            index = "0",
            paramLabel = "RUN",
            description = "The folder of a run (its best checkpoint is used), or a checkpoint.")
    private Path run;

    /** Returns an argument that a command has parsed itself. */
    static RunArgument of(Path run) {
        RunArgument argument = new RunArgument();
        argument.run = run;
        return argument;
    }

    /** Returns the checkpoint: the one named, or the best of a run, or its last. */
    Path checkpoint() {
        PathKind.require(
                run,
                "the folder of a run, as train makes it, or a checkpoint" + instead(),
                PathKind.RUN,
                PathKind.CHECKPOINT,
                PathKind.OTHER_FILE);
        return weightsOf(run);
    }

    /** Returns a file of weights, or the best checkpoint of what is the folder of a run. */
    static Path weightsOf(Path named) {
        return PathKind.find(named) == PathKind.RUN ? new RunFolder(named).best() : named;
    }

    private String instead() {
        return PathKind.find(run) == PathKind.PHOTOGRAPH
                ? "; what it shall look at comes behind"
                : runNear();
    }

    /** Names the run or checkpoint that is likely to be meant where something else was named. */
    private String runNear() {
        Path name = run.toAbsolutePath().normalize().getFileName();
        String stem = name == null ? "" : name.toString().replaceFirst("\\.ya?ml$", "");
        return Stream.of(Path.of("runs", stem), run.resolve(".."))
                .filter(path -> !path.equals(run) && PathKind.find(path) == PathKind.RUN)
                .findFirst()
                .or(() -> PathKind.checkpointIn(run))
                .map(path -> Printable.format(", such as %s", path.normalize()))
                .orElse("");
    }

    /** Returns what to call it: the name of the folder of the run, or of the file. */
    String name() {
        return run.toAbsolutePath().normalize().getFileName().toString();
    }

    /** Returns what to call what is made of it: its name without that of a kind of file. */
    String stem() {
        return name().replaceFirst("\\.(safetensors|pth|pt)$", "");
    }

    /** Returns the folder of the run, maybe of a checkpoint in it; there may be none. */
    private Path folder() {
        return Files.isRegularFile(run) ? run.toAbsolutePath().resolve("../..").normalize() : run;
    }

    /** Rejects options about objects for a segmenter. */
    void requireOptionsFor(TrainedModel<?> model, CommandSpec command, String... options) {
        if (model.match(detector -> true, segmenter -> false)) {
            return;
        }
        Problems problems = new Problems();
        for (String option : options) {
            if (command.commandLine().getParseResult().hasMatchedOption(option)) {
                problems.add("%s is about objects, and a segmenter finds none", option);
            }
        }
        problems.throwIfAny(run.toString());
    }

    /** Returns whether there is a run, whose config says on what it is measured. */
    boolean hasConfig() {
        return Files.isRegularFile(folder().resolve("config.yaml"));
    }

    /**
     * Returns the config of the run.
     *
     * @param data another folder of data than that of the training
     */
    RunConfig config(Optional<Path> data) {
        Path config = folder().resolve("config.yaml");
        if (!Files.isRegularFile(config)) {
            throw SaccadeException.user(
                    "%s: is not there, so the data set is not known; expected the folder of a run,"
                            + " or a checkpoint in it",
                    config);
        }
        String[] overrides = data.map(DataOption::override).stream().toArray(String[]::new);
        return RunConfig.load(config, overrides);
    }
}
