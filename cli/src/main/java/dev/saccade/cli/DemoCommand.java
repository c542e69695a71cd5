package dev.saccade.cli;

import ai.djl.Device;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.Devices;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.Detector;
import dev.saccade.report.predictions.Pictures;
import dev.saccade.report.predictions.PredictionWriter;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

@Command(
        name = "demo",
        description = {
            "Train and evaluate a detector on rendered images.",
            "Renders labeled scenes, checks them, trains a detector, evaluates it,"
                    + " predicts images and writes a report."
        },
        footer = {"", "Example:  saccade demo --out runs/demo"})
final class DemoCommand extends BaseCommand {

    private static final Path CONFIG = Path.of("configs", "retinanet", "resnet18_fpn_demo.yaml");
    private static final Size SCENE = new Size(192, 256);
    private static final int PREDICTED = 8;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "Write the run to this folder. Default: runs/demo, or the next free name.")
    private Optional<Path> outOption = Optional.empty();

    @Option(
            names = "--scenes",
            paramLabel = "N",
            defaultValue = "320",
            description = "Set the number of training scenes. Default: ${DEFAULT-VALUE}.")
    private int scenes;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Set a config value, such as epochs=2.")
    private List<String> overrides = List.of();

    @Mixin private ComputeOptions compute;

    @Override
    public Integer call() {
        ConfigArguments.requirePositive("--scenes", scenes);
        compute.chooseDevice();
        PrintWriter err = err();
        Path out = outOption.orElseGet(DemoCommand::nextFolder);
        Path data = scenesOf(out);
        new RunFolder(out).requireEmpty();
        requireNoScenes(data);
        render(data);
        Training training = training(data);
        DataReports reports = CheckCommand.check(training, true);
        reports.byRole().forEach((role, report) -> CheckCommand.print(role, report, err));
        Outcome outcome = TrainCommand.train(training, out, false, () -> {}, new TrainProgress());
        if (outcome == Outcome.INTERRUPTED) {
            throw SaccadeException.user(
                    "interrupted during training; continue with: ./saccade train %s --resume",
                    Printable.shellWord(out));
        }
        Path report =
                TrainCommand.report(
                        out,
                        Text.format("RetinaNet trained from scratch on %d rendered scenes", scenes),
                        reports,
                        out());
        predict(out, data.resolve("images"), Devices.local().choose(training.config().device()));
        printMessage(
                "report:      %s%npictures:    %s%nnext:        ./saccade predict %s IMAGE",
                report, out.resolve("predictions"), Printable.shellWord(out));
        return 0;
    }

    private static Path nextFolder() {
        Path folder = Path.of("runs", "demo");
        for (int n = 2; Files.exists(folder) || Files.exists(scenesOf(folder)); n++) {
            folder = Path.of("runs", "demo-" + n);
        }
        return folder;
    }

    private static Path scenesOf(Path out) {
        return out.resolveSibling(out.getFileName() + "-scenes");
    }

    /** Rejects existing scenes, because another run may have been trained on them. */
    private static void requireNoScenes(Path data) {
        if (Files.exists(data)) {
            throw SaccadeException.user(
                    "%s: has the scenes of another demo; delete this folder, or choose"
                            + " another run folder with --out",
                    data);
        }
    }

    private void render(Path data) {
        int val = Math.max(8, scenes / 5);
        try (Progress progress = new Progress("render", scenes + val, " scenes")) {
            SceneDataset.write(data, new SceneRenderer(0, SCENE), scenes, val, progress::to);
        }
    }

    private Training training(Path data) {
        Path file = Path.of(System.getProperty("saccade.home", ".")).resolve(CONFIG);
        if (!Files.exists(file)) {
            throw SaccadeException.user(
                    "%s: not found; run the demo with ./saccade in a checkout of the"
                            + " repository",
                    file);
        }
        List<String> all = new ArrayList<>(List.of(DataOption.override(data)));
        all.addAll(overrides);
        all.addAll(compute.overrides());
        return Training.of(
                Configs.bind(
                        Configs.withOverrides(
                                ConfigFile.load(file, List.of()),
                                all,
                                ConfigArguments.SET,
                                RunConfig.class),
                        RunConfig.class));
    }

    private void predict(Path out, Path images, Device computing) {
        Path found = out.resolve("predictions");
        try (Detector detector = Detector.load(new RunFolder(out).best(), computing);
                OutputFolder folder = OutputFolder.create(found, "predict", false, List.of())) {
            PredictionWriter writer =
                    new PredictionWriter(detector, new Pictures(folder, detector.classes()));
            for (int i = 0; i < PREDICTED; i++) {
                Path scene = images.resolve(Text.format("scene_%04d.jpg", scenes + i));
                writer.write(ImageSource.of(scene));
            }
            folder.finish();
        }
    }
}
