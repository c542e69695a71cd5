package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.structures.Affine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * Maps pixels of an image to a coordinate reference system (CRS). The upper left corner of the
 * image is pixel (0, 0), as in GDAL and rasterio.
 *
 * @param toCrs maps pixels to x (easting, longitude) and y (northing, latitude)
 * @param epsg EPSG code of the CRS; empty if the file has none
 */
public record Georeference(Affine toCrs, OptionalInt epsg) {

    private static final int ORIENTATION = 0x112;
    private static final int PIXEL_SCALE = 33550;
    private static final int TIE_POINTS = 33922;
    private static final int TRANSFORMATION = 34264;
    private static final int GEO_KEYS = 34735;

    private static final int MODEL_TYPE = 1024;
    private static final int RASTER_TYPE = 1025;
    private static final int GEOGRAPHIC_CRS = 2048;
    private static final int PROJECTED_CRS = 3072;

    private static final int GEOGRAPHIC = 2;
    private static final int POINT = 2;

    /** Codes from here on are private, such as 32767 for a CRS without a code. */
    private static final int PRIVATE_CODES = 32767;

    private static final int MAX_TIE_POINTS = 6 << 12;
    private static final int MATRIX = 16;
    private static final int TIE_POINT = 6;
    private static final int MAX_KEYS = 4 << 10;
    private static final int KEY = 4;

    /**
     * Reads the GeoTIFF tags of a file, which may be in a {@link TarArchive}; empty without them.
     *
     * @param warnings receives the reason why tags are ignored; names no file
     * @throws dev.saccade.core.SaccadeException if the file cannot be read; names the file
     */
    public static Optional<Georeference> read(Path file, Consumer<String> warnings) {
        try (FileBytes bytes = RasterFiles.bytes(file)) {
            return RasterFiles.isTiff(bytes)
                    ? RasterFiles.reading(file.toString(), () -> read(bytes, warnings))
                    : Optional.empty();
        } catch (IOException e) {
            throw RasterFiles.unreadable(file.toString(), e);
        }
    }

    private static Optional<Georeference> read(FileBytes bytes, Consumer<String> warnings) {
        TiffTags tags = TiffTags.pages(bytes).get(0);
        if (!tags.has(PIXEL_SCALE) && !tags.has(TRANSFORMATION) && !tags.has(TIE_POINTS)) {
            return Optional.empty();
        }
        try {
            checkArgument(tags.value(ORIENTATION, 1) <= 1, "the image is not stored upright");
            long[] keys = keys(tags);
            return Optional.of(new Georeference(toCrs(tags, keys), epsg(keys)));
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
            warnings.accept("georeference is ignored: " + e.getMessage());
            return Optional.empty();
        }
    }

    private static Affine toCrs(TiffTags tags, long[] keys) {
        double[] scale = tags.doubles(PIXEL_SCALE, MATRIX);
        double[] points = tags.doubles(TIE_POINTS, MAX_TIE_POINTS);
        double[] matrix = tags.doubles(TRANSFORMATION, MATRIX);
        Affine map;
        if (scale.length >= 2 && scale[0] != 0 && scale[1] != 0 && points.length >= TIE_POINT) {
            double down = -Math.abs(scale[1]);
            map =
                    new Affine(
                            scale[0],
                            0,
                            points[3] - points[0] * scale[0],
                            0,
                            down,
                            points[4] - points[1] * down);
        } else {
            checkArgument(
                    matrix.length == MATRIX,
                    "expected a pixel scale and a tie point, or a transformation matrix, got"
                            + " %s values of tie points",
                    points.length);
            map = new Affine(matrix[0], matrix[1], matrix[3], matrix[4], matrix[5], matrix[7]);
        }
        if (key(keys, RASTER_TYPE) == POINT) {
            // Tie points are centers of pixels.
            map =
                    new Affine(
                            map.xx(),
                            map.xy(),
                            map.x0() - (map.xx() * 0.5 + map.xy() * 0.5),
                            map.yx(),
                            map.yy(),
                            map.y0() - (map.yx() * 0.5 + map.yy() * 0.5));
        }
        checkArgument(
                Double.isFinite(map.x(1, 1)) && Double.isFinite(map.y(1, 1)),
                "its position is not finite");
        checkArgument(map.xx() * map.yy() != map.xy() * map.yx(), "its pixels have no area");
        return map;
    }

    private static OptionalInt epsg(long[] keys) {
        boolean isGeographic = key(keys, MODEL_TYPE) == GEOGRAPHIC;
        int code = key(keys, isGeographic ? GEOGRAPHIC_CRS : PROJECTED_CRS);
        return code > 0 && code < PRIVATE_CODES ? OptionalInt.of(code) : OptionalInt.empty();
    }

    private static long[] keys(TiffTags tags) {
        int count = (int) Math.min(MAX_KEYS, tags.count(GEO_KEYS));
        return count == 0 ? new long[0] : tags.integers(GEO_KEYS, count);
    }

    /** Returns the value of a key; 0 if it is missing or not an integer. */
    private static int key(long[] keys, int name) {
        // The first values are the version and the number of keys.
        for (int at = KEY; at + KEY <= keys.length; at += KEY) {
            if (keys[at] == name && keys[at + 1] == 0) {
                return (int) keys[at + 3];
            }
        }
        return 0;
    }
}
