package dev.saccade.datasets.image;

import java.awt.Color;
import java.awt.GradientPaint;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.awt.image.WritableRaster;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/** Makes image files of every kind that a data set may hold, and of some that it should not. */
public final class ImageFiles {

    private ImageFiles() {}

    /** Returns a picture with a red left and a blue right half, smooth enough for JPEG. */
    public static BufferedImage picture(int width, int height, int type) {
        BufferedImage image = new BufferedImage(width, height, type);
        Graphics2D graphics = image.createGraphics();
        graphics.setPaint(
                new GradientPaint(width / 3f, 0, Color.RED, width * 2 / 3f, 0, Color.BLUE));
        graphics.fillRect(0, 0, width, height);
        graphics.dispose();
        return image;
    }

    public static byte[] encode(BufferedImage image, String format) {
        try (ByteArrayOutputStream bytes = new ByteArrayOutputStream()) {
            if (!ImageIO.write(image, format, bytes)) {
                throw new IllegalArgumentException("no writer for " + format);
            }
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static byte[] jpeg(int width, int height) {
        return encode(picture(width, height, BufferedImage.TYPE_3BYTE_BGR), "jpg");
    }

    public static byte[] png(int width, int height, int type) {
        return encode(picture(width, height, type), "png");
    }

    /** Returns a JPEG of four channels, all of one value. */
    public static byte[] cmykJpeg(int width, int height, int value) {
        WritableRaster raster = Raster.createInterleavedRaster(0, width, height, 4, null);
        int[] samples = new int[4 * width * height];
        Arrays.fill(samples, value);
        raster.setPixels(0, 0, width, height, samples);
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpg").next();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ImageOutputStream stream = ImageIO.createImageOutputStream(bytes)) {
            writer.setOutput(stream);
            writer.write(new IIOImage(raster, null, null));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        writer.dispose();
        return bytes.toByteArray();
    }

    /** Returns a JPEG with an EXIF block that holds nothing but an orientation. */
    public static byte[] withOrientation(byte[] jpeg, int orientation) {
        ByteBuffer exif = ByteBuffer.allocate(36);
        exif.putShort((short) 0xFFE1).putShort((short) 34);
        exif.put("Exif\0\0".getBytes(StandardCharsets.US_ASCII));
        exif.putShort((short) 0x4D4D).putShort((short) 42).putInt(8);
        exif.putShort((short) 1);
        exif.putShort((short) 0x0112).putShort((short) 3).putInt(1);
        exif.putShort((short) orientation).putShort((short) 0).putInt(0);
        return ByteBuffer.allocate(jpeg.length + 36)
                .put(jpeg, 0, 2)
                .put(exif.array())
                .put(jpeg, 2, jpeg.length - 2)
                .array();
    }

    /** Returns a PNG that claims a size and holds next to nothing. */
    public static byte[] pngThatClaims(int width, int height) {
        ByteBuffer header = ByteBuffer.allocate(13).putInt(width).putInt(height);
        header.put(new byte[] {8, 2, 0, 0, 0});
        ByteBuffer png = ByteBuffer.allocate(8 + 25 + 14 + 12);
        png.put(new byte[] {(byte) 0x89, 'P', 'N', 'G', 13, 10, 26, 10});
        putChunk(png, "IHDR", header.array());
        putChunk(png, "IDAT", new byte[] {0x78, (byte) 0x9C});
        putChunk(png, "IEND", new byte[0]);
        return png.array();
    }

    private static void putChunk(ByteBuffer png, String name, byte[] content) {
        CRC32 checksum = new CRC32();
        checksum.update(name.getBytes(StandardCharsets.US_ASCII));
        checksum.update(content);
        png.putInt(content.length).put(name.getBytes(StandardCharsets.US_ASCII)).put(content);
        png.putInt((int) checksum.getValue());
    }
}
