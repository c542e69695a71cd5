package dev.saccade.report.predictions;

import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.Problems;
import dev.saccade.datasets.image.ImageNames;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.PixelFormat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Images and videos named by the user, and the images in named folders.
 *
 * @param faults a message for each missing file and each unreadable folder or folder without images
 * @param notes messages about skipped subfolders with images
 */
public record ImageInputs(
        List<Path> images, List<Path> videos, List<String> faults, List<String> notes) {

    /** Extensions accepted so that reading the files reports the unsupported format. */
    private static final List<String> UNSUPPORTED =
            List.of(".gif", ".heic", ".heif", ".avif", ".jxl", ".jp2", ".psd", ".ico");

    private static final List<String> VIDEOS =
            List.of(
                    ".mp4", ".mov", ".m4v", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".mts",
                    ".m2ts", ".wmv", ".flv", ".3gp", ".ogv", ".mxf");

    private static final Path STANDARD_INPUT = Path.of("-");

    /** {@code Path} collapses the two slashes of a URL into one. */
    private static final Pattern URL = Pattern.compile("([a-z][a-z0-9]+):/+(.+)");

    private static final int MAX_DEPTH = 2;
    private static final int SHOWN_FOLDERS = 3;

    /** Returns whether a file has the extension of an image, even in an unsupported format. */
    public static boolean isImage(Path file) {
        return ImageNames.isImage(name(file)) || endsIn(file, UNSUPPORTED);
    }

    private static boolean endsIn(Path file, List<String> endings) {
        return endings.stream().anyMatch(name(file)::endsWith);
    }

    private static String name(Path file) {
        Path name = file.getFileName();
        return name == null ? "" : name.toString().toLowerCase(Locale.ROOT);
    }

    /** Finds the named files, and the images directly in the named folders. */
    public static ImageInputs find(List<Path> inputs) {
        Set<Path> images = new LinkedHashSet<>();
        Set<Path> videos = new LinkedHashSet<>();
        List<String> faults = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        for (Path input : inputs) {
            if (Files.isDirectory(input)) {
                images.addAll(images(input, faults, notes));
            } else if (isStandardInput(input) || Files.exists(input)) {
                (endsIn(input, VIDEOS) ? videos : images).add(input);
            } else {
                faults.add(missing(input));
            }
        }
        return new ImageInputs(List.copyOf(images), List.copyOf(videos), faults, notes);
    }

    /** Finds the images in a folder and its subfolders, except folders of predictions. */
    public static ImageInputs findAll(Path folder) {
        List<Path> images = new ArrayList<>();
        List<String> faults = new ArrayList<>();
        FileVisitor<Path> visitor =
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attr) {
                        return hasPredictions(path)
                                ? FileVisitResult.SKIP_SUBTREE
                                : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                        if (isImage(path)) {
                            images.add(path);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path path, IOException e) {
                        faults.add(cannotBeListed(path, e));
                        return FileVisitResult.CONTINUE;
                    }
                };
        try {
            Files.walkFileTree(
                    folder, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, visitor);
        } catch (IOException e) {
            faults.add(cannotBeListed(folder, e));
        }
        if (images.isEmpty() && faults.isEmpty()) {
            faults.add(noImages(folder, Set.of()));
        }
        Collections.sort(images);
        return new ImageInputs(images, List.of(), faults, List.of());
    }

    private static String cannotBeListed(Path path, IOException e) {
        return Printable.format("%s: cannot be listed: %s", path, e.getMessage());
    }

    private static List<Path> images(Path folder, List<String> faults, List<String> notes) {
        try (Stream<Path> content = Files.list(folder)) {
            List<Path> images =
                    content.filter(path -> isImage(path) && !Files.isDirectory(path))
                            .sorted()
                            .toList();
            Set<Path> below = new TreeSet<>();
            addFoldersOfImages(folder, 0, below);
            if (images.isEmpty()) {
                faults.add(noImages(folder, below));
            } else if (!below.isEmpty()) {
                notes.add(
                        Printable.format(
                                "%s: the images in %s were skipped; add these folders"
                                        + " to the inputs",
                                folder, shown(below)));
            }
            return images;
        } catch (IOException e) {
            faults.add(cannotBeListed(folder, e));
            return List.of();
        }
    }

    private static String noImages(Path folder, Set<Path> below) {
        return below.isEmpty()
                ? Printable.format(
                        "%s: no images; expected files ending in %s",
                        folder, String.join(", ", ImageNames.ENDINGS))
                : Printable.format(
                        "%s: no images; its subfolders %s have images; pass those folders instead",
                        folder, shown(below));
    }

    /** Adds readable subfolders with images, except folders of predictions, to {@code found}. */
    private static void addFoldersOfImages(Path folder, int level, Set<Path> found) {
        try (Stream<Path> content = Files.list(folder)) {
            for (Path path : (Iterable<Path>) content::iterator) {
                if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                    if (level < MAX_DEPTH && !hasPredictions(path)) {
                        addFoldersOfImages(path, level + 1, found);
                    }
                } else if (level > 0 && isImage(path) && Files.isRegularFile(path)) {
                    found.add(folder);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            return;
        }
    }

    private static boolean hasPredictions(Path folder) {
        return Files.exists(folder.resolve(Predictions.NAME))
                || Files.exists(folder.resolve(FramePredictions.NAME));
    }

    private static String missing(Path input) {
        Matcher url = URL.matcher(input.toString());
        return url.matches()
                ? Printable.format(
                        "%s://%s: is a URL; download the file first", url.group(1), url.group(2))
                : Printable.format("%s: no such file", input);
    }

    private static String shown(Set<Path> folders) {
        return Count.first(folders.stream().map(Path::toString).toList(), SHOWN_FOLDERS);
    }

    /** Removes images that are extra files of other images; adds a note with their number. */
    public ImageInputs withoutExtraFiles(PixelFormat format) {
        Set<Path> kept = new LinkedHashSet<>(images);
        images.forEach(image -> format.extraFiles(image).forEach(kept::remove));
        int removed = images.size() - kept.size();
        if (removed == 0) {
            return this;
        }
        List<String> more = new ArrayList<>(notes);
        more.add(
                Printable.format(
                        "read %s (data.extra_files) with the other images",
                        Count.of(removed, "extra file")));
        return new ImageInputs(List.copyOf(kept), videos, faults, more);
    }

    /** Rejects inputs without any image or video. */
    public void requireAny() {
        if (images.isEmpty() && videos.isEmpty()) {
            Problems problems = new Problems();
            faults.forEach(fault -> problems.add("%s", fault));
            problems.throwIfAny("no images to predict");
        }
    }

    /** Rejects images and videos in the output folder. */
    public void requireOutside(Path out) {
        images.forEach(file -> OutputFolder.checkOutside(out, file));
        videos.forEach(file -> OutputFolder.checkOutside(out, file));
    }

    /** Returns the number of inputs, including those with errors. */
    public long count() {
        return (long) images.size() + videos.size() + faults.size();
    }

    public static boolean isStandardInput(Path file) {
        return file.equals(STANDARD_INPUT);
    }

    static ImageSource source(Path file) {
        return isStandardInput(file)
                ? ImageSource.read(sourceName(file), System.in)
                : ImageSource.of(file);
    }

    /** Returns the name of the {@link #source} of a file. */
    static String sourceName(Path file) {
        return isStandardInput(file) ? "stdin" : file.toString();
    }
}
