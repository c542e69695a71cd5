package dev.saccade.datasets.classification;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** Images with a class but without files; image {@code i} has class {@code i % classes}. */
record LabeledImages(int count, List<String> classes) implements Dataset {

    @Override
    public List<ImageFile> images() {
        return IntStream.range(0, count)
                .mapToObj(i -> new ImageFile(i, Path.of("image"), new Size(64, 64)))
                .toList();
    }

    @Override
    public OptionalInt label(int index) {
        return OptionalInt.of(index % classes.size());
    }
}
