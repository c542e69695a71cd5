package dev.saccade.cli;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.config.StoredConfig;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Arguments of commands that read a config. */
final class ConfigArguments {

    /** Option that changes settings, and their origin in messages. */
    static final String SET = "--set";

    private static final String EXPECTED =
            "a config, such as configs/retinanet/resnet18_fpn_bccd.yaml";

    private static final Set<PathKind> DATA_FOLDERS =
            Set.of(PathKind.IMAGES, PathKind.EMPTY_FOLDER, PathKind.OTHER_FOLDER);

    @Parameters(
            index = "0",
            paramLabel = "CONFIG",
            description =
                    "Read this config: a YAML file, the name of a bundled config such"
                            + " as retinanet/resnet18_fpn_bccd or resnet18_fpn_bccd, the"
                            + " folder of a run, or, except for train, a checkpoint.")
    private Path named;

    @Mixin private DataOption data;

    @Option(
            names = SET,
            paramLabel = "KEY=VALUE",
            description = "Set a config value, such as model.backbone.depth=50.")
    private List<String> overrides = new ArrayList<>();

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    private ShortOptions shortOptions = new ShortOptions();
    private boolean isNoted;

    Optional<Path> named() {
        return Optional.ofNullable(named);
    }

    /** Returns the run, if a run was given instead of a config. */
    Optional<Path> run() {
        return named().filter(path -> PathKind.find(path) == PathKind.RUN);
    }

    /** Returns the data folder given instead of a config; rejects --data and --set with it. */
    Optional<Path> folder() {
        boolean isFolder = named().map(PathKind::find).filter(DATA_FOLDERS::contains).isPresent();
        if (isFolder && (!overrides.isEmpty() || data.root().isPresent())) {
            throw SaccadeException.user("%s: is a folder; --data and --set need a config", named);
        }
        return isFolder ? Optional.of(named) : Optional.empty();
    }

    /** Returns the name of the config or run without file extension. */
    String name() {
        return named.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    }

    /** Returns the config with its bases and overrides, and the origin of each value. */
    ConfigNode.Mapping read() {
        List<String> all = new ArrayList<>(overrides);
        data.root().ifPresent(root -> all.add(DataOption.override(root)));
        all.addAll(shortOptions.overrides());
        ConfigNode.Mapping config = Configs.withOverrides(readBase(), all, SET, RunConfig.class);
        return data.root().map(root -> withClassFolders(config, root)).orElse(config);
    }

    /** Replaces the ImageNet of a recipe if the data folder has other class folders. */
    private ConfigNode.Mapping withClassFolders(ConfigNode.Mapping config, Path root) {
        if (!Files.isDirectory(root)) {
            return config;
        }
        List<String> settings = new ArrayList<>();
        ClassFolderData.replacements(config, root)
                .forEach((key, value) -> settings.add(key + "=" + value));
        if (!settings.isEmpty() && !isNoted) {
            isNoted = true;
            String all = String.join(", ", settings);
            PrintWriter err = spec.commandLine().getErr();
            err.println(
                    Printable.format("%s: has other classes than ImageNet; sets %s", root, all));
        }
        return Configs.withOverrides(config, settings, "--data", RunConfig.class);
    }

    private ConfigNode.Mapping readBase() {
        PathKind kind = PathKind.find(named);
        if (kind == PathKind.MISSING) {
            return ConfigFile.bundled(RecipeNames.require(named, EXPECTED) + ".yaml");
        }
        if (kind == PathKind.CHECKPOINT) {
            return StoredConfig.read(named);
        }
        PathKind.require(
                named,
                EXPECTED + suggestion(kind),
                PathKind.CONFIG,
                PathKind.RUN,
                PathKind.OTHER_FILE);
        ConfigNode.Mapping config =
                ConfigFile.load(
                        kind == PathKind.RUN ? named.resolve("config.yaml") : named, List.of());
        if (config.entries().containsKey("names") && !config.entries().containsKey("model")) {
            Path folder = named.toAbsolutePath().getParent();
            throw SaccadeException.user(
                    "%s: describes YOLO labels; expected %s; convert them first: %s",
                    named,
                    EXPECTED,
                    new ConvertibleFolder(folder, SourceFormat.YOLO).convertCommand(false));
        }
        return config;
    }

    /** Returns a hint to create a config if the path seems to contain labels, else "". */
    private String suggestion(PathKind kind) {
        Path folder = kind == PathKind.JSON ? named.toAbsolutePath().getParent() : named;
        return kind == PathKind.JSON || DATA_FOLDERS.contains(kind)
                ? Text.format(
                        "; create one for these labels with ./saccade new %s",
                        Printable.shellWord(folder))
                : "";
    }

    /** Rejects a checkpoint, for commands that would ignore its weights. */
    void requireNoCheckpoint(String instead) {
        if (named().map(PathKind::find).filter(PathKind.CHECKPOINT::equals).isPresent()) {
            throw SaccadeException.user(
                    "%s: is a checkpoint; expected %s; %s", named, EXPECTED, instead);
        }
    }

    /** Returns the quantized layers of a checkpoint; empty for configs and runs. */
    List<String> quantizedLayers() {
        return named().map(PathKind::find).filter(PathKind.CHECKPOINT::equals).isPresent()
                ? ModelSpec.fromMetadata(Checkpoints.open(named).metadata(), named.toString())
                        .quantizedLayers()
                : List.of();
    }

    /** Returns the given checkpoint, or the best or else last checkpoint of a given run, if any. */
    Optional<Path> checkpoint() {
        return run().map(RunFolder::new)
                .map(RunFolder::findBest)
                .orElseGet(
                        () -> named().filter(path -> PathKind.find(path) == PathKind.CHECKPOINT));
    }

    /** Returns the config of the run that contains the given checkpoint. Fails without a run. */
    RunConfig configOfRun() {
        return RunArgument.of(named).config(data.root());
    }

    RunConfig bind() {
        RunConfig run = Configs.bind(read(), RunConfig.class);
        shortOptions.requireUsed(run);
        return run;
    }

    Training training() {
        return Training.of(bind());
    }

    /** Adds short options, which take precedence over {@code --set}. */
    void override(ShortOptions options) {
        shortOptions = options;
    }

    /** Sets {@code key=value}, like {@code --set}. */
    void override(String assignment) {
        overrides.add(assignment);
    }

    static void requirePositive(String option, int value) {
        if (value <= 0) {
            throw SaccadeException.user("%s %d: expected a number above 0", option, value);
        }
    }

    static void requireFraction(String option, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw SaccadeException.user("%s %s: expected a number from 0 to 1", option, value);
        }
    }
}
