package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.Affine;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Files and values written by rasterio 1.4: pixel is area and point, rotated, without a code. */
class GeoreferenceTest {

    @TempDir Path folder;

    @ParameterizedTest
    @CsvFileSource(resources = "/raster/geo.csv")
    void equalsRasterio(
            String name,
            int epsg,
            double x,
            double y,
            double a,
            double b,
            double c,
            double d,
            double e,
            double f) {
        Georeference found =
                Georeference.read(RasterFilesTest.file(name), Assertions::fail).orElseThrow();
        assertEquals(epsg, found.epsg().orElse(0));
        assertEquals(new Affine(a, b, c, d, e, f), found.toCrs());
        assertEquals(x, found.toCrs().x(12.3, 4.7));
        assertEquals(y, found.toCrs().y(12.3, 4.7));
    }

    @Test
    void filesWithoutGeoreferenceHaveNone() {
        for (String name : List.of("u1_lzw_p2.tif", "hwc_be.npy", "rgb16_3.png")) {
            assertEquals(
                    Optional.empty(),
                    Georeference.read(RasterFilesTest.file(name), Assertions::fail));
        }
    }

    @Test
    void reportsWhyTagsAreIgnored() throws IOException {
        byte[] bytes = Files.readAllBytes(RasterFilesTest.file("geo_utm.tif"));
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int tags = file.getInt(4);
        for (int at = tags + 2; at < tags + 2 + 12 * file.getShort(tags); at += 12) {
            if (file.getShort(at) == (short) 33922) {
                // A tie point needs six values.
                file.putInt(at + 4, 5);
            }
        }
        List<String> warnings = new ArrayList<>();
        Path damaged = Files.write(folder.resolve("damaged.tif"), bytes);
        assertEquals(Optional.empty(), Georeference.read(damaged, warnings::add));
        assertEquals(
                List.of(
                        "georeference is ignored: expected a pixel scale and a tie point, or a"
                                + " transformation matrix, got 5 values of tie points"),
                warnings);
    }
}
