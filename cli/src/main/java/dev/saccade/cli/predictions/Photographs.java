package dev.saccade.cli.predictions;

import dev.saccade.core.Printable;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageNames;
import dev.saccade.datasets.image.ImageSource;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The photographs that a user has named, one by one or by their folder, and videos.
 *
 * @param files each once, in the order of the names; what is named need not be a photograph
 * @param videos likewise
 * @param faults what was named and is missing or holds none, with what is wrong
 * @param notes what was left out, although it may have been meant
 */
public record Photographs(
        List<Path> files, List<Path> videos, List<String> faults, List<String> notes) {

    /** Pictures, too; they are taken so that whoever looks at them says what they are. */
    private static final List<String> NOT_READ =
            List.of(".gif", ".heic", ".heif", ".avif", ".jxl", ".jp2", ".psd", ".ico");

    private static final Path STANDARD_INPUT = Path.of("-");

    /** A path has one slash where an address has two. */
    private static final Pattern ADDRESS = Pattern.compile("([a-z][a-z0-9]+):/+(.+)");

    private static final int LEVELS_BELOW = 3;
    private static final int SHOWN_FOLDERS = 3;

    /** Returns whether a file is a picture by its name. */
    public static boolean isPicture(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        return ImageNames.isImage(name) || NOT_READ.stream().anyMatch(name::endsWith);
    }

    /** Returns the files that are named, and the pictures in the folders, but not below those. */
    public static Photographs find(List<Path> inputs) {
        Set<Path> files = new LinkedHashSet<>();
        Set<Path> videos = new LinkedHashSet<>();
        List<String> faults = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        for (Path input : inputs) {
            if (!Files.isDirectory(input)) {
                if (isStandardInput(input) || Files.exists(input)) {
                    (Frames.isVideo(input) ? videos : files).add(input);
                } else {
                    faults.add(missing(input));
                }
                continue;
            }
            try {
                List<Path> pictures = pictures(input);
                Set<Path> below = foldersOfPictures(input);
                if (pictures.isEmpty()) {
                    faults.add(
                            below.isEmpty()
                                    ? Printable.format(
                                            "%s: no images; expected files ending in %s",
                                            input, String.join(", ", ImageNames.ENDINGS))
                                    : Printable.format(
                                            "%s: no images, but there are some in %s; name"
                                                    + " these folders",
                                            input, shown(below)));
                } else if (!below.isEmpty()) {
                    notes.add(
                            Printable.format(
                                    "%s: images in %s were not looked at; name these folders, too",
                                    input, shown(below)));
                }
                files.addAll(pictures);
            } catch (IOException e) {
                faults.add(Printable.format("%s: cannot be listed: %s", input, e.getMessage()));
            }
        }
        return new Photographs(List.copyOf(files), List.copyOf(videos), faults, notes);
    }

    private static String missing(Path input) {
        Matcher address = ADDRESS.matcher(input.toString());
        return address.matches()
                ? Printable.format(
                        "%s://%s: is an address; fetch the file first, predict opens no connections",
                        address.group(1), address.group(2))
                : Printable.format("%s: no such file", input);
    }

    /** Refuses to go on where there is nothing to look at. */
    public void requireAny() {
        if (files.isEmpty() && videos.isEmpty()) {
            Problems problems = new Problems();
            faults.forEach(fault -> problems.add("%s", fault));
            problems.throwIfAny("nothing to look at");
        }
    }

    /** Returns how many inputs there are, those with faults included. */
    public long count() {
        return (long) files.size() + videos.size() + faults.size();
    }

    /** Refuses photographs and videos in a folder that is cleared before they are looked at. */
    public void requireOutside(Path out) {
        Stream.of(files, videos).flatMap(List::stream).forEach(file -> requireOutside(out, file));
    }

    /** Refuses a file in a folder that is cleared before it is looked at. */
    public static void requireOutside(Path out, Path file) {
        if (isIn(out, file)) {
            throw SaccadeException.user(
                    "%s: lies in the folder that is written to; name another with --out", file);
        }
    }

    /** Returns whether a file that is there lies in a folder, whatever links lead to both. */
    private static boolean isIn(Path folder, Path file) {
        try {
            return Files.exists(folder)
                    && Files.exists(file)
                    && file.toRealPath().startsWith(folder.toRealPath());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /** Returns whether standard input is named, which there is one of. */
    public static boolean isStandardInput(Path file) {
        return file.equals(STANDARD_INPUT);
    }

    /** Returns what is to be looked at; what comes through standard input is read here. */
    public static ImageSource source(Path file) {
        return isStandardInput(file) ? ImageSource.read("stdin", System.in) : ImageSource.of(file);
    }

    private static List<Path> pictures(Path folder) throws IOException {
        try (Stream<Path> content = Files.list(folder)) {
            return content.filter(Photographs::isPicture)
                    .filter(path -> !Files.isDirectory(path))
                    .sorted()
                    .toList();
        }
    }

    /** Returns folders below one that hold pictures, but for those that a command has filled. */
    private static Set<Path> foldersOfPictures(Path folder) throws IOException {
        Set<Path> found = new TreeSet<>();
        Files.walkFileTree(
                folder,
                Set.of(),
                LEVELS_BELOW,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes is)
                            throws IOException {
                        return MadeFolder.isAt(below)
                                ? FileVisitResult.SKIP_SUBTREE
                                : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes is) {
                        // The current folder, named by nothing, is no parent of what is in it.
                        Path parent = file.getParent();
                        boolean isBelow = parent != null && !parent.equals(folder);
                        if (isBelow && is.isRegularFile() && isPicture(file)) {
                            found.add(parent);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException reason) {
                        return FileVisitResult.CONTINUE;
                    }
                });
        return found;
    }

    private static String shown(Set<Path> folders) {
        String first =
                folders.stream()
                        .limit(SHOWN_FOLDERS)
                        .map(Path::toString)
                        .collect(Collectors.joining(", "));
        int more = folders.size() - SHOWN_FOLDERS;
        return more > 0 ? first + " and " + more + " more" : first;
    }
}
