package dev.saccade.djl;

import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.testsupport.TestImages;
import dev.saccade.testsupport.TinyModel;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The checkpoints and the image that the tests serve. */
final class Served {

    static final int WIDTH = 101;
    static final int HEIGHT = 67;

    private Served() {}

    static Path checkpoint(TinyModel model, Path folder) {
        return checkpoint(model, folder, NamedAugmentations.NONE);
    }

    static Path checkpoint(TinyModel model, Path folder, NamedAugmentations tta) {
        Resize resize =
                new Resize(List.of(List.of(120, 80)), Resize.Mode.VALUE, true, List.of(), 1);
        List<String> classes =
                model.isSegmenter() ? List.of("a", "b", "c", "d", "e", "f") : List.of("a", "b");
        Path file = folder.resolve(model.name().toLowerCase(Locale.ROOT) + ".safetensors");
        return model.save(file, classes, tta, resize);
    }

    static Path image(Path folder) {
        return TestImages.write(folder.resolve("photo.png"), WIDTH, HEIGHT, 3);
    }
}
