package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.structures.Size;

import org.apache.commons.compress.utils.SeekableInMemoryByteChannel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An array of NumPy's {@code .npy} format: {@code [H, W]}, {@code [H, W, C]} or {@code [C, H, W]}.
 * Channels are the smaller one of the first and the last dimension.
 */
public final class NumpyFile implements RasterFile {

    static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

    private static final int MAX_HEADER = 1 << 16;

    private static final Map<String, SampleType> TYPES =
            Map.ofEntries(
                    Map.entry("u1", SampleType.UINT8),
                    Map.entry("b1", SampleType.UINT8),
                    Map.entry("i1", SampleType.INT8),
                    Map.entry("u2", SampleType.UINT16),
                    Map.entry("i2", SampleType.INT16),
                    Map.entry("u4", SampleType.UINT32),
                    Map.entry("i4", SampleType.INT32),
                    Map.entry("f2", SampleType.FLOAT16),
                    Map.entry("f4", SampleType.FLOAT32),
                    Map.entry("f8", SampleType.FLOAT64));

    private static final Pattern TYPE = Pattern.compile("'descr'\\s*:\\s*'([<>|=])(\\w{2})'");
    private static final Pattern FORTRAN = Pattern.compile("'fortran_order'\\s*:\\s*(\\w+)");
    private static final Pattern SHAPE = Pattern.compile("'shape'\\s*:\\s*\\(([0-9, ]*)\\)");

    private final String name;
    private final FileBytes bytes;
    private final SampleType type;
    private final ByteOrder order;
    private final long start;
    private final int height;
    private final int width;
    private final int channels;
    private final boolean planar;

    /** Reads the header; errors of the file are {@link RuntimeException}s that do not name it. */
    NumpyFile(String name, FileBytes bytes) {
        this.name = name;
        this.bytes = bytes;
        ByteBuffer begin = bytes.read(0, 12, ByteOrder.LITTLE_ENDIAN);
        boolean isFirstVersion = begin.get(6) == 1;
        int at = isFirstVersion ? 10 : 12;
        long length =
                isFirstVersion
                        ? Short.toUnsignedLong(begin.getShort(8))
                        : Integer.toUnsignedLong(begin.getInt(8));
        checkArgument(length <= MAX_HEADER, "its header has %s bytes", length);
        ByteBuffer text = bytes.read(at, length, ByteOrder.LITTLE_ENDIAN);
        String header = StandardCharsets.ISO_8859_1.decode(text).toString();
        Matcher found = match(TYPE, header);
        checkArgument(
                TYPES.containsKey(found.group(2)),
                "it has numbers of type %s, expected one of %s",
                found.group(2),
                TYPES.keySet().stream().sorted().toList());
        type = TYPES.get(found.group(2));
        order = found.group(1).equals(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        checkArgument(
                match(FORTRAN, header).group(1).equals("False"),
                "it is in Fortran order; save numpy.ascontiguousarray(array)");
        long[] shape =
                Arrays.stream(match(SHAPE, header).group(1).split(","))
                        .map(String::strip)
                        .filter(number -> !number.isEmpty())
                        .mapToLong(Long::parseLong)
                        .toArray();
        checkArgument(
                shape.length == 2 || shape.length == 3,
                "it has %s dimensions, expected [H, W], [H, W, C] or [C, H, W]",
                shape.length);
        planar = shape.length == 3 && shape[0] < shape[2];
        height = side(shape[planar ? 1 : 0]);
        width = side(shape[planar ? 2 : 1]);
        channels = shape.length == 2 ? 1 : side(shape[planar ? 0 : 2]);
        start = at + length;
        long values = Math.multiplyExact(Math.multiplyExact((long) height, (long) width), channels);
        bytes.require(start, Math.multiplyExact(values, (long) type.bytes()));
    }

    /** Returns whether a file starts like an array. */
    public static boolean isNumpy(byte[] bytes) {
        return bytes.length > MAGIC.length
                && Arrays.equals(MAGIC, 0, MAGIC.length, bytes, 0, MAGIC.length);
    }

    /** Reads the size of an array; throws a {@link RuntimeException} if it is damaged. */
    public static ImageHeader header(byte[] bytes) {
        try {
            FileBytes file = new FileBytes(new SeekableInMemoryByteChannel(bytes));
            NumpyFile array = new NumpyFile("", file);
            return new ImageHeader(
                    ImageHeader.Kind.NUMPY,
                    new Size(array.height, array.width),
                    array.channels,
                    array.type.bytes() * Byte.SIZE,
                    1,
                    "",
                    List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Matcher match(Pattern pattern, String header) {
        Matcher matcher = pattern.matcher(header);
        checkArgument(matcher.find(), "its header is damaged");
        return matcher;
    }

    private static int side(long value) {
        checkArgument(value > 0 && value <= 1 << 30, "it has a dimension of %s", value);
        return (int) value;
    }

    @Override
    public int height() {
        return height;
    }

    @Override
    public int width() {
        return width;
    }

    @Override
    public int channels() {
        return channels;
    }

    @Override
    public SampleType type() {
        return type;
    }

    @Override
    public List<String> warnings() {
        return List.of();
    }

    @Override
    public Raster read(Window window) {
        return RasterFiles.reading(
                name,
                () -> {
                    RasterFiles.requireInside(this, window);
                    Raster raster =
                            Raster.allocate(name, window.height(), window.width(), channels, type);
                    for (int plane = 0; plane < (planar ? channels : 1); plane++) {
                        for (int y = 0; y < window.height(); y++) {
                            readRow(window, plane, y, raster);
                        }
                    }
                    return raster;
                });
    }

    private void readRow(Window window, int plane, int y, Raster raster) {
        int step = planar ? 1 : channels;
        long index = ((long) plane * height + window.top() + y) * width + window.left();
        int count = window.width() * step;
        ByteBuffer row =
                bytes.read(start + index * step * type.bytes(), (long) count * type.bytes(), order);
        if (order == ByteOrder.LITTLE_ENDIAN && !planar) {
            raster.samples().put(raster.index(y, 0, 0), row, 0, row.limit());
            return;
        }
        for (int i = 0; i < count; i++) {
            int to = planar ? raster.index(y, i, plane) : raster.index(y, 0, 0) + i * type.bytes();
            type.copy(row, i * type.bytes(), raster.samples(), to);
        }
    }

    @Override
    public void close() throws IOException {
        bytes.close();
    }
}
