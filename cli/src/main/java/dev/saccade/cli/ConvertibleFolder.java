package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.configgen.LabeledFolder;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.formats.SourceFormat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A folder that {@code convert-data} can convert. */
record ConvertibleFolder(Path path, SourceFormat format) {

    /** Detects the format; rejects folders in an unknown or ambiguous format. */
    static ConvertibleFolder of(Path path, Optional<SourceFormat> requested) {
        DataFolder.requireFolder(path);
        if (requested.isPresent()) {
            return new ConvertibleFolder(path, requested.get());
        }
        List<SourceFormat> formats = SourceFormat.in(path);
        Optional<Path> onlyClass =
                formats.isEmpty() ? LabeledFolder.onlyClassFolder(path) : Optional.empty();
        if (onlyClass.isPresent()) {
            throw SaccadeException.user(
                    "%s: has images in one folder only, and no labels; a classifier needs at least"
                            + " two class folders, such as train/cat and train/dog",
                    onlyClass.get());
        }
        if (formats.isEmpty()) {
            throw SaccadeException.user(
                    "%s: no labels found; expected COCO annotations next to a folder"
                            + " of images, the folders images and annotations with label maps, a"
                            + " folder of images per class such as train/cat, or labels of %s (use --format in check and convert-data if they are"
                            + " not detected); %s",
                    path,
                    titles(EnumSet.complementOf(EnumSet.of(SourceFormat.COCO))),
                    DataFolder.content(path));
        } else if (formats.size() > 1) {
            throw SaccadeException.user(
                    "%s: may be %s; select one with --format %s",
                    path,
                    titles(formats),
                    formats.stream().map(SourceFormat::key).collect(Collectors.joining(" or ")));
        }
        return new ConvertibleFolder(path, formats.get(0));
    }

    private static String titles(Collection<SourceFormat> formats) {
        return formats.stream().map(SourceFormat::title).collect(Collectors.joining(", "));
    }

    /** Reads and returns the labels; prints a summary and notes. */
    SourceLabels read(BaseCommand command) {
        SourceLabels labels;
        try (Progress progress = new Progress("read labels", -1, " images")) {
            labels = format.read(path, progress::step);
        }
        command.printMessage(
                "%s: %s, %s, %s",
                path,
                format.title(),
                Count.of(labels.images().size(), "image"),
                Count.of(labels.classes().size(), "class"));
        labels.notes().forEach(note -> command.printMessage("note: %s", note));
        return labels;
    }

    /** Returns the shell command that converts the folder; {@code isChosen} adds --format. */
    String convertCommand(boolean isChosen) {
        String ending =
                format.labelsPixels()
                        ? "-ade20k"
                        : format == SourceFormat.COCO ? "-split" : "-coco";
        return Text.format(
                "./saccade convert-data %s --out %s%s",
                Printable.shellWord(path),
                Printable.shellWord(freeFolder(ending)),
                isChosen ? " --format " + format.key() : "");
    }

    /** Returns the shell command that splits a COCO folder. */
    static String splitCommand(Path folder) {
        boolean isAmbiguous = SourceFormat.in(folder).size() > 1;
        return new ConvertibleFolder(folder, SourceFormat.COCO).convertCommand(isAmbiguous);
    }

    private Path freeFolder(String ending) {
        Path start = path.toAbsolutePath().normalize();
        Path shown = path.normalize();
        Path parent = shown.toString().isEmpty() ? start : shown;
        Path folder = parent.resolveSibling(start.getFileName() + ending);
        for (int n = 2; Files.exists(folder); n++) {
            folder = parent.resolveSibling(start.getFileName() + ending + n);
        }
        return folder;
    }
}
