package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
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

/** A folder of labels that {@code convert-data} converts. */
record ConvertibleFolder(Path path, SourceFormat format) {

    /**
     * Detects the format of a folder.
     *
     * @param wanted the format, if the user has named one
     * @throws SaccadeException of kind user, if it has labels of no known format, or of several
     */
    static ConvertibleFolder of(Path path, Optional<SourceFormat> wanted) {
        DataFolder.requireFolder(path);
        if (wanted.isPresent()) {
            return new ConvertibleFolder(path, wanted.get());
        }
        List<SourceFormat> formats = SourceFormat.in(path);
        if (formats.isEmpty()) {
            throw SaccadeException.user(
                    "%s: no labels that are known; expected a JSON file in COCO's format beside a"
                            + " folder of photographs, the folders images and annotations with"
                            + " label maps, or labels of %s (check and convert-data take --format"
                            + " where these are not seen); %s",
                    path,
                    titles(EnumSet.complementOf(EnumSet.of(SourceFormat.COCO))),
                    DataFolder.content(path));
        } else if (formats.size() > 1) {
            throw SaccadeException.user(
                    "%s: looks like %s; say which with --format %s",
                    path,
                    titles(formats),
                    formats.stream().map(SourceFormat::key).collect(Collectors.joining(" or ")));
        }
        return new ConvertibleFolder(path, formats.get(0));
    }

    private static String titles(Collection<SourceFormat> formats) {
        return formats.stream().map(SourceFormat::title).collect(Collectors.joining(", "));
    }

    /** Reads the labels; prints a summary and notes about them. */
    SourceLabels read(BaseCommand command) {
        SourceLabels labels;
        try (Progress progress = new Progress("read labels", -1, " photos")) {
            labels = format.read(path, progress::step);
        }
        command.say(
                "%s: %s, %s, %s",
                path,
                format.title(),
                Count.of(labels.images().size(), "photograph"),
                Count.of(labels.classes().size(), "class"));
        labels.notes().forEach(note -> command.say("note: %s", note));
        return labels;
    }

    /** Returns the shell command that converts it. */
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

    /** Returns the shell command that splits a folder in COCO's format. */
    static String divideCommand(Path folder) {
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
