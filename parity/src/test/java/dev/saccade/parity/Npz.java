package dev.saccade.parity;

import com.google.common.base.Splitter;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Reads {@code numpy.savez} files with {@code .npy} versions 1 to 3, C and Fortran order, and both
 * byte orders.
 */
final class Npz {

    private static final Pattern DESCR = Pattern.compile("'descr': *'([<>|=])([a-z]\\d+)'");
    private static final Pattern FORTRAN = Pattern.compile("'fortran_order': *(True|False)");
    private static final Pattern SHAPE = Pattern.compile("'shape': *\\(([\\d, ]*)\\)");

    private Npz() {}

    static Map<String, NumpyArray> read(Path file) {
        Map<String, NumpyArray> arrays = new TreeMap<>();
        try (ZipFile zip = new ZipFile(file.toFile())) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                byte[] bytes = zip.getInputStream(entry).readAllBytes();
                String name = entry.getName().replaceAll("\\.npy$", "");
                arrays.put(name, parse(file + ":" + name, ByteBuffer.wrap(bytes)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
        return arrays;
    }

    /** Returns the arrays of a file; empty if it does not exist. */
    static Map<String, NumpyArray> readIfPresent(Path file) {
        return Files.exists(file) ? read(file) : Map.of();
    }

    private static NumpyArray parse(String where, ByteBuffer bytes) {
        check(bytes.getInt() == 0x934e554d && bytes.getShort() == 0x5059, where, "no npy magic");
        int version = bytes.get();
        bytes.get();
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        byte[] text = new byte[version == 1 ? bytes.getShort() & 0xffff : bytes.getInt()];
        bytes.get(text);
        String header = new String(text, StandardCharsets.UTF_8);

        Matcher descr = find(DESCR, header, where);
        bytes.order(descr.group(1).equals(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        long[] shape =
                Splitter.on(',')
                        .trimResults()
                        .omitEmptyStrings()
                        .splitToStream(find(SHAPE, header, where).group(1))
                        .mapToLong(Long::parseLong)
                        .toArray();
        int size = 1;
        for (long dimension : shape) {
            size = Math.multiplyExact(size, Math.toIntExact(dimension));
        }
        double[] values = new double[size];
        for (int i = 0; i < size; i++) {
            values[i] = number(bytes, descr.group(2), where);
        }
        check(!bytes.hasRemaining(), where, "more bytes than the shape needs");
        boolean fortran = find(FORTRAN, header, where).group(1).equals("True");
        return new NumpyArray(shape, fortran ? toRowMajor(shape, values) : values);
    }

    private static double number(ByteBuffer bytes, String type, String where) {
        return switch (type) {
            case "f4" -> bytes.getFloat();
            case "f8" -> bytes.getDouble();
            case "i8" -> bytes.getLong();
            case "i4" -> bytes.getInt();
            case "u1" -> bytes.get() & 0xff;
            case "b1" -> bytes.get();
            default -> throw new IllegalArgumentException(where + ": type " + type);
        };
    }

    private static double[] toRowMajor(long[] shape, double[] columnMajor) {
        double[] rowMajor = new double[columnMajor.length];
        for (int i = 0; i < rowMajor.length; i++) {
            long rest = i;
            long stride = columnMajor.length;
            long source = 0;
            for (int axis = shape.length - 1; axis >= 0; axis--) {
                stride /= shape[axis];
                source += rest % shape[axis] * stride;
                rest /= shape[axis];
            }
            rowMajor[i] = columnMajor[(int) source];
        }
        return rowMajor;
    }

    private static Matcher find(Pattern pattern, String header, String where) {
        Matcher matcher = pattern.matcher(header);
        check(matcher.find(), where, "no " + pattern + " in header " + header);
        return matcher;
    }

    private static void check(boolean holds, String where, String what) {
        if (!holds) {
            throw new IllegalArgumentException(where + ": " + what);
        }
    }
}
