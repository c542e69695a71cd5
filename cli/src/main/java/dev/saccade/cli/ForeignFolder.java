package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Split;
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

/**
 * A folder of labels in the format of others, as a command was given it.
 *
 * @param path where it is
 * @param format what is in it
 */
record ForeignFolder(Path path, SourceFormat format) {

    /**
     * Returns a folder with its format.
     *
     * @param wanted the format, if the user has named one
     * @throws SaccadeException of kind user, if nothing or several things are in it
     */
    static ForeignFolder of(Path path, Optional<SourceFormat> wanted) {
        DataFolder.requireFolder(path);
        if (wanted.isPresent()) {
            return new ForeignFolder(path, wanted.get());
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
        return new ForeignFolder(path, formats.get(0));
    }

    private static String titles(Collection<SourceFormat> formats) {
        return formats.stream().map(SourceFormat::title).collect(Collectors.joining(", "));
    }

    /** Returns its labels, with a count of photographs while they are read. */
    SourceLabels read() {
        try (Progress progress = new Progress("read labels", -1, " photos")) {
            return format.read(path, progress::step);
        }
    }

    /** Returns what is in it, in a line. */
    String told(SourceLabels labels) {
        return Printable.format(
                "%s: %s, %s, %s",
                path,
                format.title(),
                Count.of(labels.images().size(), "photograph"),
                Count.of(labels.classes().size(), "class"));
    }

    /** Returns the command that converts it, to be pasted. */
    String convertCommand(boolean isChosen) {
        String ending =
                format.labelsPixels()
                        ? "-ade20k"
                        : format == SourceFormat.COCO ? "-split" : "-coco";
        return Text.format(
                "./saccade convert-data %s --out %s%s",
                Printable.word(path),
                Printable.word(freeFolder(ending)),
                isChosen ? " --format " + format.key() : "");
    }

    /** Returns the command that sets aside a part of what is in COCO's format. */
    static String divideCommand(Path folder) {
        boolean isAmbiguous = SourceFormat.in(folder).size() > 1;
        return new ForeignFolder(folder, SourceFormat.COCO).convertCommand(isAmbiguous);
    }

    private Path freeFolder(String ending) {
        Path start = path.normalize().toString().isEmpty() ? path.toAbsolutePath() : path;
        String name = start.normalize().getFileName() + ending;
        Path folder = start.normalize().resolveSibling(name);
        for (int n = 2; Files.exists(folder); n++) {
            folder = start.normalize().resolveSibling(name + n);
        }
        return folder;
    }

    /** Returns whether something is there to measure on. */
    static boolean hasVal(SourceLabels labels) {
        return !labels.images(Split.VAL).isEmpty();
    }
}
