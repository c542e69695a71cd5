package dev.saccade.datasets.loader;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** A number of images without files or labels. */
record UnlabeledImages(int count) implements Dataset {

    @Override
    public List<String> classes() {
        return List.of();
    }

    @Override
    public List<ImageFile> images() {
        return IntStream.range(0, count)
                .mapToObj(i -> new ImageFile(i, Path.of("image"), new Size(64, 64)))
                .toList();
    }
}
