package dev.saccade.datasets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class ImageWriterTest {

    private static final int BIT_DEPTH = 24;

    static {
        OpenCv.load();
    }

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource({"1, 8", "254, 8", "255, 8", "256, 16", "60000, 16"})
    void labelsAreReadBackAsTheyWere(int classes, int bits) throws IOException {
        short[] labels = new short[7 * 5];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = (short) (i % 4 == 3 ? LabelMap.IGNORE : (i * 7919L) % classes);
        }
        labels[0] = (short) (classes - 1);
        LabelMap map = LabelMap.of(new Size(5, 7), labels);
        Path file = folder.resolve("labels").resolve("photo.png");
        ImageWriter.writeLabels(map, classes, file);
        assertEquals(bits, Files.readAllBytes(file)[BIT_DEPTH]);
        assertEquals(map, new LabelCode(classes, true, 0).decode(file));
    }

    @Test
    void labelsCountFromOne() {
        LabelMap map = LabelMap.of(new Size(1, 3), new short[] {0, LabelMap.IGNORE, 9});
        Path file = folder.resolve("photo.png");
        ImageWriter.writeLabels(map, 10, file);
        assertArrayEquals(new short[] {1, 0, 10}, IndexPng.read(file).values());
    }
}
