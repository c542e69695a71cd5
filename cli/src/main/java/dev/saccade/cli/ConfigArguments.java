package dev.saccade.cli;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.train.Training;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.config.StoredConfig;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The arguments of commands that start from a config. */
final class ConfigArguments {

    private static final String EXPECTED =
            "a config, such as configs/retinanet/resnet18_fpn_bccd.yaml";

    private static final Set<PathKind> OF_DATA =
            Set.of(PathKind.PHOTOGRAPHS, PathKind.EMPTY_FOLDER, PathKind.OTHER_FOLDER);

    @Parameters(
            index = "0",
            paramLabel = "CONFIG",
            description =
                    "A YAML file; the name of one that comes with Saccade, such as"
                            + " retinanet/resnet18_fpn_bccd or resnet18_fpn_bccd; or the folder of a"
                            + " run, for its own.")
    private Path named;

    @Mixin private DataOption data;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets a value of the config, such as model.backbone.depth=50.")
    private List<String> overrides = new ArrayList<>();

    private ShortOptions words = new ShortOptions();

    /** Returns what was named; nothing where a command takes no config. */
    Optional<Path> named() {
        return Optional.ofNullable(named);
    }

    /** Returns the run that is named in place of a config, if one is. */
    Optional<Path> run() {
        return named().filter(path -> PathKind.find(path) == PathKind.RUN);
    }

    /**
     * Returns the folder of photographs and labels that is named in place of a config, if one is.
     *
     * @throws SaccadeException of kind user, if values of a config are given with it
     */
    Optional<Path> folder() {
        boolean isFolder = named().map(PathKind::find).filter(OF_DATA::contains).isPresent();
        if (isFolder && (!overrides.isEmpty() || data.root().isPresent())) {
            throw SaccadeException.user(
                    "%s: is a folder; --data and --set go with a config", named);
        }
        return isFolder ? Optional.of(named) : Optional.empty();
    }

    /** Returns the file's name without ending, or the run's, by which runs are called. */
    String name() {
        return named.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    }

    /** Returns the config with bases and overrides, and where each value is from. */
    ConfigNode.Mapping read() {
        List<String> all = new ArrayList<>(overrides);
        data.root().ifPresent(root -> all.add(DataOption.override(root)));
        all.addAll(words.overrides());
        return Configs.withOverrides(written(), all, RunConfig.class);
    }

    private ConfigNode.Mapping written() {
        PathKind kind = PathKind.find(named);
        if (kind == PathKind.NOTHING) {
            return ConfigFile.bundled(RecipeNames.require(named, EXPECTED) + ".yaml");
        }
        if (kind == PathKind.CHECKPOINT) {
            return StoredConfig.read(named);
        }
        PathKind.require(
                named,
                EXPECTED + writtenBy(kind),
                PathKind.CONFIG,
                PathKind.RUN,
                PathKind.OTHER_FILE);
        ConfigNode.Mapping config =
                ConfigFile.load(
                        kind == PathKind.RUN ? named.resolve("config.yaml") : named, List.of());
        if (config.entries().containsKey("names") && !config.entries().containsKey("model")) {
            Path folder = named.toAbsolutePath().getParent();
            throw SaccadeException.user(
                    "%s: describes labels of YOLO; expected %s; convert them first: %s",
                    named,
                    EXPECTED,
                    new ConvertibleFolder(folder, SourceFormat.YOLO).convertCommand(false));
        }
        return config;
    }

    /** Returns how to get a config for what seems to be labels. */
    private String writtenBy(PathKind kind) {
        Path folder = kind == PathKind.JSON ? named.toAbsolutePath().getParent() : named;
        return kind == PathKind.JSON || OF_DATA.contains(kind)
                ? Text.format(
                        "; ./saccade new %s writes one for its labels", Printable.shellWord(folder))
                : "";
    }

    /** Refuses a checkpoint, for commands that would not use its weights. */
    void requireNoCheckpoint(String instead) {
        if (named().map(PathKind::find).filter(PathKind.CHECKPOINT::equals).isPresent()) {
            throw SaccadeException.user(
                    "%s: is a checkpoint; expected %s; %s", named, EXPECTED, instead);
        }
    }

    /** Returns the config as records. */
    RunConfig bind() {
        RunConfig run = Configs.bind(read(), RunConfig.class);
        words.requireFollowed(run);
        return run;
    }

    /** Returns the run that the config describes. */
    Training training() {
        return Training.of(bind());
    }

    /** Lays the short options of a command over the config, after {@code --set}. */
    void override(ShortOptions options) {
        words = options;
    }

    /** Sets a value of the config, {@code key=value}, as {@code --set} does. */
    void override(String assignment) {
        overrides.add(assignment);
    }

    /** Refuses a number of an option that is not above 0. */
    static void requirePositive(String option, int value) {
        if (value <= 0) {
            throw SaccadeException.user("%s %d: expected a number above 0", option, value);
        }
    }

    /** Refuses a value that is no share of 1. */
    static void requireShare(String option, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw SaccadeException.user("%s %s: expected a number from 0 to 1", option, value);
        }
    }
}
