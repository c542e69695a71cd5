package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import org.apache.commons.compress.utils.SeekableInMemoryByteChannel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * Opens TIFF, NumPy arrays, and PNG, JPEG, BMP and WebP with values as stored.
 *
 * <p>TIFF: strips or tiles, chunky or planar, both byte orders, BigTIFF; 1 to 16 and 32 bits
 * unsigned, 8, 16 and 32 bits signed, 16, 32 and 64 bits float; uncompressed, LZW, Deflate or
 * PackBits, with predictors 2 and 3. Damaged files are rejected with an exception.
 */
public final class RasterFiles {

    private RasterFiles() {}

    /**
     * Opens a file, which may be in a {@link TarArchive}.
     *
     * @param channels the expected channels, which decide whether pages of a TIFF are channels
     * @throws SaccadeException if the file is missing, damaged or unsupported; names the file
     */
    public static RasterFile open(Path file, int channels) {
        String name = file.toString();
        FileBytes bytes = bytes(file);
        try {
            if (isTiff(bytes) || isNumpy(bytes)) {
                return open(name, bytes, channels);
            }
            bytes.close();
            return new DecodedFile(name, ImageReader.readBytes(file));
        } catch (IOException e) {
            throw closed(bytes, unreadable(name, e));
        } catch (RuntimeException e) {
            throw closed(bytes, e);
        }
    }

    /** Opens the bytes of a file, which may be in a {@link TarArchive}. */
    static FileBytes bytes(Path file) {
        String name = file.toString();
        try {
            if (TarArchive.containing(file).isPresent()) {
                return new FileBytes(new SeekableInMemoryByteChannel(ImageReader.readBytes(file)));
            }
            RegularFile.require(file);
            return new FileBytes(FileChannel.open(file));
        } catch (NoSuchFileException e) {
            throw SaccadeException.user("%s: no such file", name);
        } catch (IOException e) {
            throw unreadable(name, e);
        }
    }

    private static <E extends Exception> E closed(FileBytes bytes, E failure) {
        try {
            bytes.close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }

    /** Opens a file in memory; does not copy the bytes. */
    public static RasterFile open(String name, byte[] encoded, int channels) {
        try {
            FileBytes bytes = new FileBytes(new SeekableInMemoryByteChannel(encoded));
            return isTiff(bytes) || isNumpy(bytes)
                    ? open(name, bytes, channels)
                    : new DecodedFile(name, encoded);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static RasterFile open(String name, FileBytes bytes, int channels) {
        return reading(
                name,
                () ->
                        isTiff(bytes)
                                ? TiffFile.open(name, bytes, channels)
                                : new NumpyFile(name, bytes));
    }

    static boolean isTiff(FileBytes bytes) {
        if (bytes.size() < 4) {
            return false;
        }
        int magic = bytes.read(0, 4, ByteOrder.BIG_ENDIAN).getInt(0);
        return switch (magic) {
            case 0x49492A00, 0x49492B00, 0x4D4D002A, 0x4D4D002B -> true;
            default -> false;
        };
    }

    private static boolean isNumpy(FileBytes bytes) {
        int length = NumpyFile.MAGIC.length;
        return bytes.size() > length
                && bytes.read(0, length, ByteOrder.BIG_ENDIAN)
                        .equals(ByteBuffer.wrap(NumpyFile.MAGIC));
    }

    /** Runs a step of reading; converts errors of the file to an exception that names the file. */
    static <T> T reading(String name, Supplier<T> step) {
        try {
            return step.get();
        } catch (SaccadeException e) {
            throw e;
        } catch (UncheckedIOException e) {
            throw unreadable(name, e.getCause());
        } catch (IllegalArgumentException e) {
            throw unreadable(name, e.getMessage());
        } catch (ArithmeticException | IndexOutOfBoundsException e) {
            throw unreadable(name, "it points outside of the file");
        } catch (OutOfMemoryError e) {
            throw SaccadeException.user(
                    "%s: %s",
                    name,
                    OutOfMemory.READING.of(e).map(Throwable::getMessage).orElse(e.toString()));
        }
    }

    static SaccadeException unreadable(String name, IOException e) {
        return SaccadeException.io(e, "%s: cannot be read: %s", name, e.getMessage());
    }

    private static SaccadeException unreadable(String name, String reason) {
        return SaccadeException.user("%s: cannot be read: %s", name, reason);
    }

    static void requireInside(RasterFile file, Window window) {
        checkArgument(
                window.right() <= file.width() && window.bottom() <= file.height(),
                "the window %s is not inside of %s x %s pixels",
                window,
                file.width(),
                file.height());
    }
}
