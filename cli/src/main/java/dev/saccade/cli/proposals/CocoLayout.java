package dev.saccade.cli.proposals;

import com.google.common.collect.Iterables;

import dev.saccade.cli.proposals.LabeledFolder.Role;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.coco.CocoNames;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Annotations in COCO's format and the folders of their photographs, as Roboflow, COCO itself and
 * others lay them: parts go by the names of files, or by those of folders.
 */
final class CocoLayout {

    /** How many photographs of a file are looked for in a folder. */
    private static final int LOOKED_FOR = 5;

    /** A folder with more has a file for each photograph, in another format. */
    private static final int MOST_OF_A_FOLDER = 50;

    private CocoLayout() {}

    static Optional<LabeledFolder> find(Path root) {
        List<Path> folders = FolderTree.folders(root);
        List<Path> files = annotations(folders);
        if (files.isEmpty()) {
            return Optional.empty();
        }
        Path train = train(root, files);
        Optional<Path> val = of(root, files, Role.VAL).or(() -> of(root, files, Role.TEST));
        return Optional.of(
                new LabeledFolder(
                        root,
                        config(root, train, folders),
                        val.filter(file -> !file.equals(train))
                                .map(file -> config(root, file, folders))));
    }

    /** Returns files of objects; COCO has captions and key points beside them. */
    private static List<Path> annotations(List<Path> folders) {
        List<Path> all = new ArrayList<>();
        for (Path folder : folders) {
            FolderTree.files(folder, ".json").stream()
                    .limit(MOST_OF_A_FOLDER)
                    .filter(file -> LabelFormat.guess(file).equals(Optional.of(LabelFormat.COCO)))
                    .forEach(all::add);
        }
        List<Path> instances =
                all.stream()
                        .filter(file -> file.getFileName().toString().startsWith("instances_"))
                        .toList();
        return instances.isEmpty() ? all : instances;
    }

    private static Path train(Path root, List<Path> files) {
        Optional<Path> train = of(root, files, Role.TRAIN);
        if (train.isPresent()) {
            return train.get();
        }
        List<Path> others =
                files.stream().filter(file -> Role.of(root.relativize(file)) == Role.NONE).toList();
        if (others.size() == 1) {
            return Iterables.getOnlyElement(others);
        }
        throw LabeledFolder.unclear(root, files.stream().map(root::relativize).toList());
    }

    private static Optional<Path> of(Path root, List<Path> files, Role role) {
        return files.stream().filter(file -> Role.of(root.relativize(file)) == role).findFirst();
    }

    private static CocoDataset.Config config(Path root, Path file, List<Path> folders) {
        return new CocoDataset.Config(
                LabeledFolder.relative(root, file),
                LabeledFolder.relative(root, images(file, folders)),
                List.of());
    }

    /** Returns the folder that has most of the first photographs; of several, the nearest. */
    private static Path images(Path file, List<Path> folders) {
        List<String> names = CocoNames.first(file, LOOKED_FOR);
        Path best = file.getParent();
        long most = count(best, names);
        for (Path folder : folders) {
            long found = most == names.size() ? 0 : count(folder, names);
            if (found > most) {
                most = found;
                best = folder;
            }
        }
        if (most == 0 && !names.isEmpty()) {
            throw SaccadeException.user(
                    "%s: none of its photographs, such as %s, is in a folder beside or below it",
                    file, names.get(0));
        }
        return best;
    }

    private static long count(Path folder, List<String> names) {
        return names.stream().filter(name -> isThere(folder, name)).count();
    }

    private static boolean isThere(Path folder, String name) {
        try {
            return Files.isRegularFile(folder.resolve(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }
}
