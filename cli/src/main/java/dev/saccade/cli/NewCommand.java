package dev.saccade.cli;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.configgen.ConfigGenerator;
import dev.saccade.configgen.DatasetContents;
import dev.saccade.configgen.LabeledFolder;
import dev.saccade.configgen.Machine;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

@Command(
        name = "new",
        description = {
            "Write a config for a folder of labeled images.",
            "The folder needs COCO annotations, label maps, or a folder of images per class."
                    + " Model, image size and schedule are chosen for the data and this machine."
        },
        footer = {
            "",
            "Example:  saccade new data/bccd",
            "          saccade new photos/tools --out tools.yaml"
        })
final class NewCommand extends BaseCommand {

    @Parameters(
            index = "0",
            paramLabel = "FOLDER",
            description = "Read images and labels from this folder.")
    private Path folder;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Write the config to this file. Default: NAME-OF-FOLDER.yaml.")
    private Optional<Path> out = Optional.empty();

    @Option(names = "--force", description = "Overwrite FILE if it exists.")
    private boolean force;

    @Override
    public Integer call() {
        Path file = out.orElseGet(this::file);
        if (Files.exists(file) && !force) {
            throw SaccadeException.user(
                    "%s: already exists; choose another file with --out, or overwrite"
                            + " it with --force",
                    file);
        }
        LabeledFolder found = LabeledFolder.find(folder).orElseThrow(() -> refuse(folder));
        DatasetContents contents = DatasetContents.of(found, Progress::new);
        Machine machine = Machine.current();
        DataReports reports;
        try (Progress progress = new Progress("check", -1, " images")) {
            reports =
                    ConfigGenerator.check(
                            found, Optional.of(contents), machine, Depth.LABELS, progress::step);
        }
        reports.requireNoErrors("the data set has errors; no config was written");
        String config = ConfigGenerator.generate(found, contents, machine);
        AtomicFile.write(file, config);
        reports.warnings().forEach(err()::println);
        config.lines()
                .takeWhile(line -> line.startsWith("# "))
                .forEach(line -> printMessage("%s", line.substring(2)));
        printMessage("%s: written for %s", file, Count.of(contents.images(), "image"));
        contents.raisedLimit()
                .ifPresent(
                        limit ->
                                printMessage(
                                        "an image has %d objects: max_per_img and"
                                                + " max_dets are set to %d",
                                        contents.mostObjects(), limit));
        if (found.val().isEmpty()) {
            printMessage(
                    "%s has no validation set; %s",
                    folder,
                    found.hasLabelMaps()
                            ? "put its images into a folder named val"
                            : "split it with: " + ConvertibleFolder.splitCommand(folder));
        }
        if (found.isHeldOut()) {
            printMessage(
                    "%s has no validation folder, such as val; a fifth of the images of each class"
                            + " is the validation set",
                    folder);
        }
        found.unusedTestFolder()
                .ifPresent(
                        test ->
                                printMessage(
                                        "%s is not used; evaluate a run on it with: ./saccade eval"
                                                + " RUN --set data.val.folder=%s",
                                        folder.resolve(test), Printable.shellWord(Path.of(test))));
        String word = Printable.shellWord(file);
        printMessage("next:     ./saccade browse %s%n          ./saccade train %s", word, word);
        return 0;
    }

    /** Returns an error for a folder in a format that must be converted. */
    static SaccadeException refuse(Path folder) {
        ConvertibleFolder found = ConvertibleFolder.of(folder, Optional.empty());
        return SaccadeException.user(
                "%s: has labels of %s; convert them first: %s",
                folder, found.format().title(), found.convertCommand(false));
    }

    private Path file() {
        Path name = folder.toAbsolutePath().normalize().getFileName();
        return Path.of((name == null ? "new" : name) + ".yaml");
    }
}
