package dev.saccade.datasets.classification;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.image.ImageNames;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Lists class folders and the images of a class; follows links and reports what it skips. */
final class FolderFiles extends SimpleFileVisitor<Path> {

    private static final int MAX_SHOWN = 3;

    /** Folders that macOS writes to archives, and Synology to its disks. */
    private static final Set<String> SYSTEM_FOLDERS = Set.of("__MACOSX", "@eaDir");

    private enum Skipped {
        HIDDEN_FOLDER("hidden folder", ""),
        HIDDEN_IMAGE("hidden image", ""),
        LOOP("link", " to a parent folder"),
        SPECIAL("file", " that cannot be opened (broken link, pipe or device)"),
        OTHER("file", " without the suffix of a supported image"),
        OUTSIDE("image", " outside of the class folders");

        private final String noun;
        private final String reason;

        Skipped(String noun, String reason) {
            this.noun = noun;
            this.reason = reason;
        }
    }

    private final Path root;
    private final Findings findings;
    private final List<Path> images = new ArrayList<>();
    private final List<String> folders = new ArrayList<>();
    private final ListMultimap<Skipped, String> skipped =
            MultimapBuilder.enumKeys(Skipped.class).arrayListValues().build();

    private FolderFiles(Path root, Findings findings) {
        this.root = root;
        this.findings = findings;
    }

    /** Returns the images in a folder and its subfolders, sorted by path. */
    static List<Path> images(Path folder, Findings findings) {
        FolderFiles files = walk(folder, Integer.MAX_VALUE, findings);
        files.report();
        files.images.sort(Comparator.comparing(Path::toString));
        return files.images;
    }

    /** Returns the names of the folders in a folder, sorted. */
    static List<String> classes(Path parent, Findings findings) {
        FolderFiles files = walk(parent, 1, findings);
        files.skipped.removeAll(Skipped.OTHER);
        files.images.forEach(image -> files.skip(Skipped.OUTSIDE, image));
        files.report();
        files.folders.sort(null);
        return files.folders;
    }

    private static FolderFiles walk(Path root, int depth, Findings findings) {
        FolderFiles files = new FolderFiles(root, findings);
        try {
            Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), depth, files);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", root, e.getMessage());
        }
        return files;
    }

    private void report() {
        skipped.asMap()
                .forEach(
                        (kind, names) ->
                                findings.warning(
                                        root.toString(),
                                        "skips %s%s: %s",
                                        Count.of(names.size(), kind.noun),
                                        kind.reason,
                                        Count.first(names.stream().sorted().toList(), MAX_SHOWN)));
    }

    private void skip(Skipped kind, Path file) {
        skipped.put(kind, root.relativize(file).toString());
    }

    private static boolean isHidden(Path file) {
        String name = file.getFileName().toString();
        return name.startsWith(".") || SYSTEM_FOLDERS.contains(name);
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
            throws IOException {
        if (folder.equals(root)) {
            return FileVisitResult.CONTINUE;
        } else if (isHidden(folder)) {
            skip(Skipped.HIDDEN_FOLDER, folder);
            return FileVisitResult.SKIP_SUBTREE;
        } else if (Files.isSymbolicLink(folder)
                && root.toRealPath().startsWith(folder.toRealPath())) {
            // Following the link would add the images of other classes.
            skip(Skipped.LOOP, folder);
            return FileVisitResult.SKIP_SUBTREE;
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        boolean isImage = ImageNames.isImage(file.getFileName().toString());
        if (attributes.isDirectory()) {
            if (isHidden(file)) {
                skip(Skipped.HIDDEN_FOLDER, file);
            } else {
                folders.add(file.getFileName().toString());
            }
        } else if (isHidden(file)) {
            if (isImage) {
                skip(Skipped.HIDDEN_IMAGE, file);
            }
        } else if (!attributes.isRegularFile()) {
            skip(Skipped.SPECIAL, file);
        } else if (isImage) {
            images.add(file);
        } else {
            skip(Skipped.OTHER, file);
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
        if (failure instanceof FileSystemLoopException) {
            skip(Skipped.LOOP, file);
        } else if (failure instanceof AccessDeniedException) {
            findings.error(file.toString(), "cannot be read: permission denied");
        } else {
            throw failure;
        }
        return FileVisitResult.CONTINUE;
    }
}
