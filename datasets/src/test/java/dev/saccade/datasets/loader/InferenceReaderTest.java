package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.PhotometricDistortion;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

class InferenceReaderTest {

    private static final List<Transform> PLAIN =
            List.of(
                    new Resize(List.of(List.of(60, 40)), Resize.Mode.VALUE, true, List.of(), 1),
                    Configs.of(Normalize.class),
                    Configs.of(Pad.class));

    private static final TestTimeAugmentation TTA =
            new TestTimeAugmentation(List.of(List.of(90, 60), List.of(60, 40)), true);

    @TempDir Path folder;

    @Test
    void tellsOfEveryViewWhatHasHappened() {
        Dataset dataset = new ImageFolder(folder).add(30, 20);
        try (InferenceInput input = new InferenceReader(TTA.pipelines(PLAIN)).read(dataset, 0)) {
            assertEquals(4, input.batches().size());
            for (int v = 0; v < 4; v++) {
                ImageInfo image = input.batches().get(v).images().get(0);
                assertEquals(100, image.id());
                assertEquals(new Size(20, 30), image.original());
                assertEquals(v < 2 ? new Size(60, 90) : new Size(40, 60), image.size());
                assertEquals(v < 2 ? 3 : 2, image.scaleX());
                assertEquals(v % 2 == 1, image.flipped());
            }
        }
    }

    @Test
    void mirrorsWhatIsResizedAndPadsItOnTheRight() {
        Dataset dataset = new ImageFolder(folder).add(30, 20);
        try (InferenceInput input = new InferenceReader(TTA.pipelines(PLAIN)).read(dataset, 0)) {
            FloatBuffer upright = input.batches().get(2).pixels();
            FloatBuffer mirrored = input.batches().get(3).pixels();
            boolean symmetric = true;
            for (int row = 0; row < 40; row++) {
                for (int x = 0; x < 60; x++) {
                    assertEquals(upright.get(64 * row + x), mirrored.get(64 * row + 59 - x));
                    symmetric &= upright.get(64 * row + x) == mirrored.get(64 * row + x);
                }
                assertEquals(0, mirrored.get(64 * row + 60));
            }
            assertFalse(symmetric);
        }
    }

    @Test
    void makesEachViewAsIfThereWereNoOther() {
        Dataset dataset = new ImageFolder(folder).add(60, 40).add(44, 60);
        List<Transform> distorted =
                List.of(Configs.of(PhotometricDistortion.class), Configs.of(Normalize.class));
        for (int i = 0; i < dataset.size(); i++) {
            try (InferenceInput both =
                            new InferenceReader(List.of(distorted, PLAIN)).read(dataset, i);
                    InferenceInput one = new InferenceReader(List.of(PLAIN)).read(dataset, i)) {
                assertEquals(one.batches().get(0).pixels(), both.batches().get(1).pixels());
            }
        }
    }

    @Test
    void namesTheFileThatCannotBeUsed() {
        Dataset dataset = new ImageFolder(folder).add(new byte[] {1, 2, 3}, new Size(4, 4));
        InferenceReader reader = new InferenceReader(TTA.pipelines(PLAIN));
        SaccadeException labeled =
                assertThrows(SaccadeException.class, () -> reader.read(dataset, 0));
        assertTrue(labeled.getMessage().startsWith("image 100: "), labeled.getMessage());
        Path file = dataset.image(0).file();
        SaccadeException loose =
                assertThrows(
                        SaccadeException.class, () -> reader.read(List.of(ImageSource.of(file))));
        assertTrue(loose.getMessage().startsWith(file.toString()), loose.getMessage());
    }

    @Test
    void readsTilesOfFilesOneByOneWithTheSamePixels() throws Exception {
        Path file =
                Path.of(
                        InferenceReaderTest.class
                                .getResource("/raster/u2_band_lzw_p2.tif")
                                .toURI());
        PixelFormat format = PixelFormat.of(4, 100, 50_000);
        InferenceReader reader =
                new InferenceReader(
                        List.of(List.of(Configs.of(Pad.class))), Optional.of(Tiles.of(16)), format);
        try (InferenceInput windows = reader.read(List.of(ImageSource.of(file)));
                InferenceInput decoded =
                        reader.read(List.of(ImageSource.of(Files.readAllBytes(file))))) {
            TiledImage tiled = windows.tiled().orElseThrow();
            assertEquals(4, tiled.tiles().size());
            assertEquals(decoded.tiled().orElseThrow().tiles(), tiled.tiles());
            for (Tile tile : tiled.tiles()) {
                try (InferenceInput a = tiled.read(tile);
                        InferenceInput b = decoded.tiled().orElseThrow().read(tile)) {
                    assertEquals(b.batches().get(0).pixels(), a.batches().get(0).pixels());
                }
            }
        }
    }
}
