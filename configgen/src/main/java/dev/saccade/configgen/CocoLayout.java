package dev.saccade.configgen;

import com.google.common.collect.Iterables;

import dev.saccade.configgen.LabeledFolder.Role;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.coco.CocoFiles;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds COCO annotation files and image folders; file or folder names determine the split. */
final class CocoLayout {

    /** Maximum number of files read per folder; other formats have a JSON file per image. */
    private static final int MAX_FILES_PER_FOLDER = 50;

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

    private static List<Path> annotations(List<Path> folders) {
        return CocoFiles.ofObjects(
                folders.stream()
                        .flatMap(
                                folder ->
                                        FolderTree.files(folder, ".json").stream()
                                                .limit(MAX_FILES_PER_FOLDER))
                        .toList());
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
                LabeledFolder.relative(root, CocoFiles.images(file, folders)),
                List.of());
    }
}
