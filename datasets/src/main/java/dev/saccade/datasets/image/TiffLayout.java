package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Where the pixels of a page of a TIFF are, and how they are stored.
 *
 * @param bits stored bits of a value; below 8 or between, values are unpacked
 * @param separate whether each channel has its own strips or tiles
 * @param chunkWidth width of a strip or tile; likewise {@code chunkHeight}
 * @param missing value of strips and tiles that the file omits
 */
record TiffLayout(
        int height,
        int width,
        int channels,
        int bits,
        SampleType type,
        boolean separate,
        boolean tiled,
        int chunkWidth,
        int chunkHeight,
        TiffCompression compression,
        int predictor,
        boolean reversesBits,
        double missing) {

    static final int STRIPS = 0x111;
    static final int STRIP_LENGTHS = 0x117;
    static final int TILES = 0x144;
    static final int TILE_LENGTHS = 0x145;

    static final int PREDICTOR_NONE = 1;
    static final int PREDICTOR_HORIZONTAL = 2;
    static final int PREDICTOR_FLOAT = 3;

    private static final int SUBFILE = 0xFE;
    private static final int WIDTH = 0x100;
    private static final int HEIGHT = 0x101;
    private static final int BITS = 0x102;
    private static final int COMPRESSION = 0x103;
    private static final int FILL_ORDER = 0x10A;
    private static final int CHANNELS = 0x115;
    private static final int ROWS_PER_STRIP = 0x116;
    private static final int PLANAR = 0x11C;
    private static final int PREDICTOR = 0x13D;
    private static final int TILE_WIDTH = 0x142;
    private static final int TILE_HEIGHT = 0x143;
    private static final int SAMPLE_FORMAT = 0x153;
    private static final int GDAL_NODATA = 42113;

    private static final int REDUCED_OR_MASK = 1 | 4;
    private static final int MAX_CHANNELS = 512;
    private static final int MAX_SIDE = 1 << 30;
    private static final int MAX_CHUNKS = 1 << 24;
    private static final int MAX_TEXT = 64;

    /** Returns whether a page is a reduced copy or a mask of another page. */
    static boolean isCopy(TiffTags tags) {
        return (tags.value(SUBFILE, 0) & REDUCED_OR_MASK) != 0;
    }

    /** Reads the layout; throws an {@link IllegalArgumentException} if it is unsupported. */
    static TiffLayout of(TiffTags tags) {
        int width = side(tags, WIDTH, "width", 0);
        int height = side(tags, HEIGHT, "height", 0);
        int channels = tags.intValue(CHANNELS, 1);
        checkArgument(
                channels >= 1 && channels <= MAX_CHANNELS,
                "it has %s channels, expected 1 to %s",
                channels,
                MAX_CHANNELS);
        int bits = (int) same(tags, BITS, 1, channels, "bits");
        int format = (int) same(tags, SAMPLE_FORMAT, 1, channels, "sample formats");
        boolean tiled = tags.has(TILES);
        int chunkHeight =
                tiled
                        ? side(tags, TILE_HEIGHT, "tile height", 0)
                        : (int) Math.min(height, tags.value(ROWS_PER_STRIP, height));
        checkArgument(chunkHeight > 0, "its strips have no rows");
        TiffLayout layout =
                new TiffLayout(
                        height,
                        width,
                        channels,
                        bits,
                        type(bits, format),
                        tags.value(PLANAR, 1) == 2 && channels > 1,
                        tiled,
                        tiled ? side(tags, TILE_WIDTH, "tile width", 0) : width,
                        chunkHeight,
                        TiffCompression.of(tags.intValue(COMPRESSION, 1)),
                        tags.intValue(PREDICTOR, PREDICTOR_NONE),
                        tags.value(FILL_ORDER, 1) == 2,
                        missing(tags));
        layout.check();
        return layout;
    }

    private static int side(TiffTags tags, int tag, String name, int otherwise) {
        long value = tags.value(tag, otherwise);
        checkArgument(value > 0 && value <= MAX_SIDE, "its %s is %s", name, value);
        return (int) value;
    }

    private static long same(TiffTags tags, int tag, int otherwise, int channels, String name) {
        if (!tags.has(tag)) {
            return otherwise;
        }
        // Some writers store one value for all channels.
        int count = (int) Math.min(channels, Math.max(1, tags.count(tag)));
        long[] values = tags.integers(tag, count);
        for (long value : values) {
            checkArgument(value == values[0], "its channels have different %s", name);
        }
        return values[0];
    }

    private static SampleType type(int bits, int format) {
        SampleType type =
                switch (format) {
                    case 1, 4 -> unsigned(bits);
                    case 2 ->
                            switch (bits) {
                                case 8 -> SampleType.INT8;
                                case 16 -> SampleType.INT16;
                                case 32 -> SampleType.INT32;
                                default -> null;
                            };
                    case 3 ->
                            switch (bits) {
                                case 16 -> SampleType.FLOAT16;
                                case 32 -> SampleType.FLOAT32;
                                case 64 -> SampleType.FLOAT64;
                                default -> null;
                            };
                    default -> null;
                };
        checkArgument(
                type != null,
                "it has %s bits of sample format %s; expected 1 to 16 or 32 bits unsigned (1),"
                        + " 8, 16 or 32 bits signed (2), or 16, 32 or 64 bits float (3)",
                bits,
                format);
        return type;
    }

    private static SampleType unsigned(int bits) {
        if (bits == 32) {
            return SampleType.UINT32;
        }
        if (bits < 1 || bits > 16) {
            return null;
        }
        return bits <= 8 ? SampleType.UINT8 : SampleType.UINT16;
    }

    private static double missing(TiffTags tags) {
        try {
            return tags.text(GDAL_NODATA, MAX_TEXT)
                    .map(String::strip)
                    .map(Double::valueOf)
                    .orElse(0.0);
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }

    private void check() {
        checkArgument(
                predictor >= PREDICTOR_NONE && predictor <= PREDICTOR_FLOAT,
                "its predictor %s is unknown",
                predictor);
        checkArgument(
                predictor == PREDICTOR_NONE || !isPacked(), "it has a predictor for %s bits", bits);
        checkArgument(
                predictor != PREDICTOR_FLOAT || type.isFloat(),
                "it has the predictor of floats, but integers");
        checkArgument(
                (long) columns() * rows() * (separate ? channels : 1) <= MAX_CHUNKS,
                "it has more than %s strips or tiles",
                MAX_CHUNKS);
        checkArgument(rowBytes() <= Integer.MAX_VALUE / 2, "a row has %s bytes", rowBytes());
    }

    /** Returns whether values have to be unpacked from bits. */
    boolean isPacked() {
        return bits != type.bytes() * Byte.SIZE;
    }

    /** Returns whether values can be read without decoding, except for their byte order. */
    boolean isStoredAsRead() {
        return compression == TiffCompression.NONE
                && predictor == PREDICTOR_NONE
                && !isPacked()
                && !reversesBits;
    }

    /** Returns the channels in a strip or tile. */
    int chunkChannels() {
        return separate ? 1 : channels;
    }

    /** Returns the stored bytes of a row of a strip or tile. */
    long rowBytes() {
        return ((long) chunkWidth * chunkChannels() * bits + Byte.SIZE - 1) / Byte.SIZE;
    }

    /** Returns the number of strips or tiles next to each other. */
    int columns() {
        return (int) (((long) width + chunkWidth - 1) / chunkWidth);
    }

    int rows() {
        return (int) (((long) height + chunkHeight - 1) / chunkHeight);
    }

    int chunks() {
        return columns() * rows() * (separate ? channels : 1);
    }
}
