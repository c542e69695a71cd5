package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import javax.imageio.ImageIO;

class ClassMapTest {

    private static final int BIT_DEPTH = 24;

    private static final ClassMap MAP =
            new ClassMap(
                    LabelMap.of(new Size(2, 3), new short[] {2, 2, 0, 2, 2, 0}),
                    List.of("sky", "road", "tree"));

    @Test
    void returnsTheClassOfEveryPixel() {
        assertEquals(3, MAP.width());
        assertEquals(2, MAP.height());
        assertEquals("tree", MAP.at(1, 1));
        assertEquals("sky", MAP.at(2, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> MAP.at(0, 2));
    }

    @ParameterizedTest
    @CsvSource({"1, 8", "254, 8", "255, 8", "256, 16", "60000, 16"})
    void pngRoundTripsThroughADataSet(int classes, int bits, @TempDir Path folder)
            throws IOException {
        OpenCv.load();
        short[] labels = new short[7 * 5];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = (short) (i % 4 == 3 ? LabelMap.IGNORE : (i * 7919L) % classes);
        }
        labels[0] = (short) (classes - 1);
        LabelMap map = LabelMap.of(new Size(5, 7), labels);
        List<String> names = IntStream.range(0, classes).mapToObj(i -> "class " + i).toList();
        byte[] png = new ClassMap(map, names).toPng();
        assertEquals(bits, png[BIT_DEPTH]);
        assertEquals(map, readBack(png, names, folder));
    }

    /** Reads a label map as a data set does; the image can be any of that size. */
    private static LabelMap readBack(byte[] png, List<String> names, Path folder)
            throws IOException {
        Files.write(folder.resolve("names.txt"), names);
        Files.write(Files.createDirectory(folder.resolve("labels")).resolve("a.png"), png);
        Files.write(Files.createDirectory(folder.resolve("photos")).resolve("a.png"), png);
        return Configs.of(
                        Ade20kDataset.Config.class,
                        "images=photos",
                        "annotations=labels",
                        "classes_file=names.txt",
                        "ignore_index=0",
                        "image_suffix=.png")
                .open(folder)
                .labels(0);
    }

    @Test
    void pngValuesStartAtOne() throws IOException {
        OpenCv.load();
        LabelMap map = LabelMap.of(new Size(1, 3), new short[] {0, LabelMap.IGNORE, 1});
        byte[] png = new ClassMap(map, List.of("sky", "road")).toPng();
        Raster raster = ImageIO.read(new ByteArrayInputStream(png)).getRaster();
        assertArrayEquals(new int[] {1, 0, 2}, raster.getSamples(0, 0, 3, 1, 0, new int[3]));
    }

    @Test
    void returnsTheFractionOfEachClass() {
        assertEquals(List.of("tree", "sky"), List.copyOf(MAP.fractions().keySet()));
        assertEquals(Map.of("tree", 4 / 6.0, "sky", 2 / 6.0), MAP.fractions());
    }

    @Test
    void returnsTheMaskOfAClass() {
        Rle tree = MAP.mask("tree");
        assertEquals(4, tree.area());
        BufferedImage image = tree.toImage();
        assertEquals(255, image.getRaster().getSample(0, 1, 0));
        assertEquals(0, image.getRaster().getSample(2, 1, 0));
        assertEquals(0, MAP.mask("road").area());
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> MAP.mask("car"));
        assertTrue(thrown.getMessage().contains("car"), thrown.getMessage());
    }
}
