package dev.saccade.report.runs;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.nio.file.Path;
import java.util.List;

/** Names that distinguish images with the same file name in different folders. */
public final class RelativeNames {

    private RelativeNames() {}

    /** Returns the name of each image of a data set. */
    public static List<String> of(Dataset dataset) {
        return of(dataset.images().stream().map(ImageFile::file).toList());
    }

    /** Returns the path of each file from the deepest folder that contains all of them. */
    static List<String> of(List<Path> files) {
        if (files.isEmpty()) {
            return List.of();
        }
        Path folder = files.get(0).toAbsolutePath().normalize().getParent();
        for (Path file : files) {
            while (!file.toAbsolutePath().normalize().startsWith(folder)) {
                folder = folder.getParent();
            }
        }
        Path common = folder;
        return files.stream()
                .map(file -> common.relativize(file.toAbsolutePath().normalize()))
                .map(path -> path.toString().replace('\\', '/'))
                .collect(ImmutableList.toImmutableList());
    }
}
