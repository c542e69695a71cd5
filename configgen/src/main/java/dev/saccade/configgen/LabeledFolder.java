package dev.saccade.configgen;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.classification.ImageFolderDataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.folds.FoldDataset;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A folder that training reads directly: COCO annotations, label maps or a folder per class. */
public record LabeledFolder(
        Path root, Dataset.Config train, Optional<? extends Dataset.Config> val) {

    /**
     * Finds the labels of a folder; empty for formats that need conversion. Throws a user error if
     * the training set is ambiguous or too small.
     */
    public static Optional<LabeledFolder> find(Path root) {
        DataFolder.requireFolder(root);
        return CocoLayout.find(root)
                .or(() -> LabelMapLayout.find(root))
                .or(() -> ClassFolderLayout.find(root));
    }

    /** Returns the only folder of images below a folder or its training folder, if there is one. */
    public static Optional<Path> onlyClassFolder(Path root) {
        return ClassFolderLayout.onlyClass(root);
    }

    /** Returns the targets of a model for this folder, without the masks of COCO annotations. */
    public TargetKind targets() {
        if (hasLabelMaps()) {
            return TargetKind.LABEL_MAPS;
        }
        return train instanceof CocoDataset.Config ? TargetKind.BOXES : TargetKind.CLASSES;
    }

    public boolean hasLabelMaps() {
        return train instanceof Ade20kDataset.Config;
    }

    /** Returns whether the validation set is a part of the training images. */
    public boolean isHeldOut() {
        return train instanceof FoldDataset.Config;
    }

    /** Returns the {@code folder} of a third split of a folder per class, which is not used. */
    public Optional<String> unusedTestFolder() {
        return val.filter(ImageFolderDataset.Config.class::isInstance)
                .map(ImageFolderDataset.Config.class::cast)
                .flatMap(used -> ClassFolderLayout.testNextTo(root, used.folder()));
    }

    /** Returns the data sets by split, {@code train} and {@code val}. */
    public Map<String, Dataset.Config> parts() {
        Map<String, Dataset.Config> parts = new LinkedHashMap<>();
        parts.put("train", train);
        val.ifPresent(part -> parts.put("val", part));
        return parts;
    }

    /** Split of a data set, found by file and folder names. */
    enum Role {
        TRAIN("train"),
        VAL("val"),
        TEST("test"),
        NONE("");

        private final String word;

        Role(String word) {
            this.word = word;
        }

        /** Returns the split named by the last matching part of a path. */
        static Role of(Path path) {
            for (int i = path.getNameCount() - 1; i >= 0; i--) {
                String name = path.getName(i).toString().toLowerCase(Locale.ROOT);
                for (Role role : new Role[] {TRAIN, VAL, TEST}) {
                    if (name.contains(role.word)) {
                        return role;
                    }
                }
            }
            return NONE;
        }
    }

    static String relative(Path root, Path path) {
        return root.relativize(path).toString().replace('\\', '/');
    }

    static SaccadeException unclear(Path root, Object files) {
        return SaccadeException.user(
                "%s: the training set is ambiguous; expected a name with \"train\" among %s",
                root, Printable.line(files.toString()));
    }
}
