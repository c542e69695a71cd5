package dev.saccade.configgen;

import com.google.common.collect.Iterables;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.classification.ImageFolderDataset;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.folds.FoldDataset;
import dev.saccade.datasets.image.ImageNames;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds a folder of images per class, such as {@code train/cat} and {@code val/cat}. Without a
 * validation folder, a stratified fold of the training images is held out.
 */
final class ClassFolderLayout {

    private static final Pattern SPLIT =
            Pattern.compile("(train|training|val|valid|validation|test|testing)([-_ ]?\\d+)?");

    private static final Set<String> TRAIN = Set.of("train", "training");
    private static final Set<String> VAL = Set.of("val", "valid", "validation");
    private static final Set<String> TEST = Set.of("test", "testing");

    /** Folder names of other label formats. */
    private static final Set<String> RESERVED =
            Set.of(
                    "images",
                    "image",
                    "imgs",
                    "img",
                    "jpegimages",
                    "photos",
                    "annotations",
                    "annotation",
                    "labels",
                    "masks",
                    "mask",
                    "imagesets",
                    "segmentationclass",
                    "segmentationobject");

    /** Maximum number of folders around the data, for example from an archive. */
    private static final int MAX_WRAPPERS = 2;

    private static final int CLASS_DEPTH = 2;

    /** One of these folds is the validation set. */
    private static final int FOLDS = 5;

    private ClassFolderLayout() {}

    static Optional<LabeledFolder> find(Path root) {
        Path folder = root;
        for (int i = 0; i <= MAX_WRAPPERS; i++) {
            List<Path> below = below(folder);
            Optional<LabeledFolder> found = splits(root, below).or(() -> unsplit(root, below));
            if (found.isPresent()) {
                // Labels in files next to the images have priority over folder names.
                Optional<LabeledFolder> kept =
                        found.filter(layout -> SourceFormat.in(root).isEmpty());
                if (kept.filter(LabeledFolder::isHeldOut).isPresent()) {
                    requireFolds(folder);
                }
                return kept;
            }
            if (below.size() != 1) {
                break;
            }
            folder = Iterables.getOnlyElement(below);
        }
        return Optional.empty();
    }

    /** Rejects folders with too few images to hold out a validation set. */
    private static void requireFolds(Path folder) {
        long count =
                FolderTree.folders(folder).stream()
                        .flatMap(each -> images(each, 0))
                        .limit(FOLDS)
                        .count();
        if (count < FOLDS) {
            throw SaccadeException.user(
                    "%s: got %s, expected at least %d to hold out a fifth of them for"
                            + " validation; add images, or put them into the folders train and val",
                    folder, Count.of(count, "image"), FOLDS);
        }
    }

    private static List<Path> below(Path folder) {
        List<Path> folders = FolderTree.folders(folder, 1);
        return folders.subList(1, folders.size());
    }

    private static Optional<LabeledFolder> splits(Path root, List<Path> folders) {
        Optional<Path> train = named(folders, TRAIN, 2);
        Optional<Path> val = named(folders, VAL, 1).or(() -> named(folders, TEST, 1));
        return train.map(
                path ->
                        val.map(
                                        other ->
                                                new LabeledFolder(
                                                        root,
                                                        config(root, path),
                                                        Optional.of(config(root, other))))
                                .orElseGet(() -> heldOut(root, path)));
    }

    /** Returns another test folder in the parent of a validation folder, relative to the root. */
    static Optional<String> testNextTo(Path root, String val) {
        Path used = root.resolve(val);
        return named(below(used.getParent()), TEST, 1)
                .filter(test -> !test.equals(used))
                .map(test -> LabeledFolder.relative(root, test));
    }

    private static Optional<Path> named(List<Path> folders, Set<String> names, int classes) {
        return folders.stream()
                .filter(folder -> names.contains(name(folder)))
                .filter(folder -> hasClasses(below(folder), classes))
                .findFirst();
    }

    private static Optional<LabeledFolder> unsplit(Path root, List<Path> folders) {
        return hasClasses(folders, 2)
                ? Optional.of(heldOut(root, folders.get(0).getParent()))
                : Optional.empty();
    }

    /**
     * Returns whether enough folders have images, and no folder has a name of another label format.
     */
    private static boolean hasClasses(List<Path> folders, int classes) {
        return folders.stream().noneMatch(folder -> RESERVED.contains(name(folder)))
                && folders.stream()
                                .filter(folder -> !SPLIT.matcher(name(folder)).matches())
                                .filter(ClassFolderLayout::hasImages)
                                .limit(classes)
                                .count()
                        == classes;
    }

    private static boolean hasImages(Path folder) {
        return images(folder, CLASS_DEPTH).findAny().isPresent();
    }

    private static Stream<Path> images(Path folder, int depth) {
        return FolderTree.folders(folder, depth).stream()
                .flatMap(each -> FolderTree.files(each, "").stream())
                .filter(file -> ImageNames.isImage(file.getFileName().toString()));
    }

    /** Returns the folder of the only class, if it is below the root or the training folder. */
    static Optional<Path> onlyClass(Path root) {
        List<Path> folders = below(root);
        List<Path> parents = folders.stream().filter(each -> TRAIN.contains(name(each))).toList();
        List<Path> classes =
                parents.isEmpty()
                        ? folders
                        : parents.stream().flatMap(each -> below(each).stream()).toList();
        List<Path> withImages =
                classes.stream()
                        .filter(each -> !SPLIT.matcher(name(each)).matches())
                        .filter(each -> !RESERVED.contains(name(each)))
                        .filter(ClassFolderLayout::hasImages)
                        .toList();
        return withImages.size() == 1 ? Optional.of(withImages.get(0)) : Optional.empty();
    }

    private static String name(Path folder) {
        return folder.getFileName().toString().toLowerCase(Locale.ROOT);
    }

    private static LabeledFolder heldOut(Path root, Path images) {
        return new LabeledFolder(
                root,
                fold(config(root, images), FoldDataset.Part.TRAIN),
                Optional.of(fold(config(root, images), FoldDataset.Part.VAL)));
    }

    private static Dataset.Config fold(Dataset.Config images, FoldDataset.Part part) {
        return new FoldDataset.Config(images, FOLDS, 0, part, 0);
    }

    private static Dataset.Config config(Path root, Path folder) {
        String relative = LabeledFolder.relative(root, folder);
        return new ImageFolderDataset.Config(relative.isEmpty() ? "." : relative, List.of());
    }
}
