package dev.saccade.configgen;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.check.DataFolder;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A folder of labeled photographs in a layout that trains as it is: COCO's format, or label maps as
 * those of ADE20K.
 *
 * @param root the folder
 * @param train what to learn from
 * @param val what to measure on, if a part is set aside for it
 */
public record LabeledFolder(
        Path root, Dataset.Config train, Optional<? extends Dataset.Config> val) {

    /**
     * Returns what lies in a folder, if it is labels in a layout that trains as it is.
     *
     * @throws SaccadeException of kind user, if there is no such folder, or if it is not clear
     *     which part is learned from
     */
    public static Optional<LabeledFolder> find(Path root) {
        DataFolder.requireFolder(root);
        return CocoLayout.find(root).or(() -> LabelMapLayout.find(root));
    }

    /** Returns whether pixels are labeled, not objects. */
    public boolean holdsLabelMaps() {
        return train instanceof Ade20kDataset.Config;
    }

    /** Returns the parts by what they are for. */
    public Map<String, Dataset.Config> parts() {
        Map<String, Dataset.Config> parts = new LinkedHashMap<>();
        parts.put("train", train);
        val.ifPresent(part -> parts.put("val", part));
        return parts;
    }

    /** Tells apart the parts of a data set by what their files and folders are called. */
    enum Role {
        TRAIN("train"),
        VAL("val"),
        TEST("test"),
        NONE("");

        private final String word;

        Role(String word) {
            this.word = word;
        }

        /** Returns the role that a path names, its last part first. */
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

    /** Returns a path within the root as configs have it. */
    static String relative(Path root, Path path) {
        return root.relativize(path).toString().replace('\\', '/');
    }

    static SaccadeException unclear(Path root, Object files) {
        return SaccadeException.user(
                "%s: it is not clear which labels are learned from; expected one with \"train\" in"
                        + " its name among %s",
                root, Printable.line(files.toString()));
    }
}
