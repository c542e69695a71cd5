package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.PixelFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

class ReplayImagesTest {

    @TempDir Path folder;

    /** An image without objects. */
    private record One(Path file) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("cup");
        }

        @Override
        public List<ImageFile> images() {
            return List.of(new ImageFile(1, file, new Size(64, 64)));
        }

        @Override
        public List<Annotation> annotations(int index) {
            return List.of();
        }
    }

    @Test
    void storesExtraFiles() throws IOException {
        Files.createDirectory(folder.resolve("nir"));
        Files.writeString(folder.resolve("nir/a.tif"), "nir");
        Path image = Files.writeString(folder.resolve("a.tif"), "image");
        PixelFormat pixels = new PixelFormat(4, List.of(), List.of("nir/{name}.tif"), List.of());
        Path out = folder.resolve("out");
        try (OutputFolder created = OutputFolder.create(out, "test", false, List.of())) {
            ReplayImages stored = new ReplayImages(created, pixels);
            assertEquals(List.of("00001_a.tif"), stored.add(new One(image)));
            assertEquals(List.of("00001_a.tif"), stored.add(new One(image)));
            Path copy = created.resolve("replay/images/00001_a.tif");
            assertEquals(List.of("00001_a.tif"), stored.add(new One(copy)));
            assertEquals(8, stored.bytes());
            created.finish();
        }
        Path images = out.resolve("replay/images");
        assertEquals("image", Files.readString(images.resolve("00001_a.tif")));
        assertEquals("nir", Files.readString(images.resolve("nir/00001_a.tif")));
    }
}
