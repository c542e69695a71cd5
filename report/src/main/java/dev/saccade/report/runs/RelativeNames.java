package dev.saccade.report.runs;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.nio.file.Path;
import java.util.List;

/** Names images relative to their common folder, so that the names are unique. */
public final class RelativeNames {

    private RelativeNames() {}

    public static List<String> of(Dataset dataset) {
        return of(dataset.images().stream().map(ImageFile::file).toList());
    }

    /** Returns each path relative to the deepest common folder. */
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
