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

/** Writes a config for a folder of labeled photographs. */
@Command(
        name = "new",
        description = {
            "Write a config for a folder of labeled photographs, in COCO's format or with label"
                    + " maps: the model, sizes and schedule that suit them and this machine."
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
            description = "The folder with images and labels.")
    private Path folder;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "The config to write; NAME-OF-FOLDER.yaml by default.")
    private Optional<Path> out = Optional.empty();

    @Option(names = "--force", description = "Overwrite FILE if it is there.")
    private boolean force;

    @Override
    public Integer call() {
        Path file = out.orElseGet(this::file);
        if (Files.exists(file) && !force) {
            throw SaccadeException.user(
                    "%s: exists already; name another with --out, or add --force to overwrite it",
                    file);
        }
        LabeledFolder found = LabeledFolder.find(folder).orElseThrow(this::refuse);
        DatasetContents contents = DatasetContents.of(found);
        Machine machine = Machine.here();
        DataReports reports;
        try (Progress progress = new Progress("check", -1, " images")) {
            reports =
                    ConfigGenerator.check(
                            found, Optional.of(contents), machine, Depth.LABELS, progress::step);
        }
        reports.requireNoErrors("the data set has errors; no config was written");
        AtomicFile.write(file, ConfigGenerator.generate(found, contents, machine));
        reports.warnings().forEach(err()::println);
        say("%s: written for %s", file, Count.of(contents.images(), "image"));
        contents.raisedLimit()
                .ifPresent(
                        limit ->
                                say(
                                        "an image has %d objects: max_per_img and max_dets"
                                                + " are set to %d",
                                        contents.mostObjects(), limit));
        if (found.val().isEmpty()) {
            say(
                    "no part of %s is set aside to measure on; %s",
                    folder,
                    found.holdsLabelMaps()
                            ? "its labels should have \"val\" in their name"
                            : "divide it with: " + ConvertibleFolder.divideCommand(folder));
        }
        String word = Printable.shellWord(file);
        say("now try:  ./saccade browse %s%n          ./saccade train %s", word, word);
        return 0;
    }

    private SaccadeException refuse() {
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
