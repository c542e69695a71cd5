package dev.saccade.cli.fuzz;

import dev.saccade.datasets.image.OpenCv;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.awt.image.WritableRaster;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/** Small pictures of every kind that decoders have code of their own for. */
final class ImageSeeds {

    private static final int WIDTH = 24;
    private static final int HEIGHT = 16;
    private static final int GREATEST_LABEL = 150;

    private ImageSeeds() {}

    static List<byte[]> jpeg() {
        byte[] plain = opencv(".jpg", CvType.CV_8UC3);
        return List.of(
                plain,
                opencv(".jpg", CvType.CV_8UC1),
                opencv(".jpg", CvType.CV_8UC3, Imgcodecs.IMWRITE_JPEG_PROGRESSIVE, 1),
                opencv(".jpg", CvType.CV_8UC3, Imgcodecs.IMWRITE_JPEG_RST_INTERVAL, 1),
                cmyk(),
                afterStart(plain, exif(6, 0x4D4D)),
                afterStart(plain, exif(3, 0x4949)),
                afterStart(afterStart(plain, exif(8, 0x4D4D)), exif(1, 0x4D4D)));
    }

    static List<byte[]> png() {
        byte[] color = opencv(".png", CvType.CV_8UC3);
        PngChunks chunks = new PngChunks();
        List<byte[]> oriented = new java.util.ArrayList<>(chunks.cut(color));
        byte[] tiff = tiff(6, 0x4D4D);
        oriented.add(2, Bytes.concat("eXIf".getBytes(StandardCharsets.US_ASCII), tiff));
        return List.of(
                color,
                chunks.join(oriented),
                opencv(".png", CvType.CV_8UC4),
                opencv(".png", CvType.CV_16UC3),
                opencv(".png", CvType.CV_16UC1),
                opencv(".png", CvType.CV_8UC1, Imgcodecs.IMWRITE_PNG_BILEVEL, 1),
                java("png", BufferedImage.TYPE_BYTE_INDEXED, true),
                java("png", BufferedImage.TYPE_INT_RGB, true));
    }

    static List<byte[]> bmp() {
        return List.of(
                opencv(".bmp", CvType.CV_8UC3),
                opencv(".bmp", CvType.CV_8UC4),
                java("bmp", BufferedImage.TYPE_BYTE_INDEXED, false),
                java("bmp", BufferedImage.TYPE_BYTE_BINARY, false),
                java("bmp", BufferedImage.TYPE_USHORT_555_RGB, false));
    }

    static List<byte[]> tiff() {
        return List.of(
                opencv(".tiff", CvType.CV_8UC3),
                opencv(".tiff", CvType.CV_8UC1, Imgcodecs.IMWRITE_TIFF_COMPRESSION, 1),
                opencv(".tiff", CvType.CV_16UC3),
                opencv(".tiff", CvType.CV_32FC3),
                opencv(".tiff", CvType.CV_8UC3, Imgcodecs.IMWRITE_TIFF_COMPRESSION, 8),
                java("tiff", BufferedImage.TYPE_BYTE_INDEXED, false),
                java("tiff", BufferedImage.TYPE_BYTE_BINARY, false));
    }

    static List<byte[]> webp() {
        return List.of(
                opencv(".webp", CvType.CV_8UC3, Imgcodecs.IMWRITE_WEBP_QUALITY, 60),
                opencv(".webp", CvType.CV_8UC3, Imgcodecs.IMWRITE_WEBP_QUALITY, 101),
                opencv(".webp", CvType.CV_8UC4, Imgcodecs.IMWRITE_WEBP_QUALITY, 60));
    }

    /** Returns label maps: gray of 8, 16 and 1 bit, and with a palette. */
    static List<byte[]> labels() {
        return List.of(
                opencv(".png", CvType.CV_8UC1),
                opencv(".png", CvType.CV_16UC1),
                opencv(".png", CvType.CV_8UC1, Imgcodecs.IMWRITE_PNG_BILEVEL, 1),
                java("png", BufferedImage.TYPE_BYTE_INDEXED, false),
                java("png", BufferedImage.TYPE_BYTE_GRAY, true),
                java("png", BufferedImage.TYPE_INT_RGB, false));
    }

    private static byte[] opencv(String ending, int type, int... parameters) {
        OpenCv.load();
        Mat image = new Mat(HEIGHT, WIDTH, type);
        double[] pixel = new double[image.channels()];
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                for (int c = 0; c < pixel.length; c++) {
                    pixel[c] = (7 * x + 5 * y * (c + 1)) % GREATEST_LABEL;
                }
                image.put(y, x, pixel);
            }
        }
        MatOfByte encoded = new MatOfByte();
        MatOfInt settings = new MatOfInt(parameters);
        Imgcodecs.imencode(ending, image, encoded, settings);
        byte[] bytes = encoded.toArray();
        image.release();
        encoded.release();
        settings.release();
        return bytes;
    }

    private static byte[] java(String format, int type, boolean progressive) {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, type);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                image.setRGB(x, y, 0x10101 * ((11 * x + 3 * y) % GREATEST_LABEL));
            }
        }
        return java(format, new IIOImage(image, null, null), progressive);
    }

    private static byte[] cmyk() {
        WritableRaster raster = Raster.createInterleavedRaster(0, WIDTH, HEIGHT, 4, null);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            raster.setPixel(i % WIDTH, i / WIDTH, new int[] {i % 256, 10, 20, 255});
        }
        return java("jpg", new IIOImage(raster, null, null), false);
    }

    private static byte[] java(String format, IIOImage image, boolean progressive) {
        ImageWriter writer = ImageIO.getImageWritersByFormatName(format).next();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ImageOutputStream stream = ImageIO.createImageOutputStream(bytes)) {
            writer.setOutput(stream);
            ImageWriteParam settings = writer.getDefaultWriteParam();
            if (progressive) {
                settings.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
            }
            writer.write(null, image, settings);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        writer.dispose();
        return bytes.toByteArray();
    }

    private static byte[] afterStart(byte[] jpeg, byte[] segment) {
        return Bytes.replace(jpeg, 2, 2, segment);
    }

    /** Returns a segment that says how a JPEG lies. */
    private static byte[] exif(int orientation, int byteOrder) {
        byte[] name = "Exif\0\0".getBytes(StandardCharsets.US_ASCII);
        byte[] tiff = tiff(orientation, byteOrder);
        ByteBuffer head = ByteBuffer.allocate(4).putShort((short) 0xFFE1);
        head.putShort((short) (2 + name.length + tiff.length));
        return Bytes.concat(head.array(), name, tiff);
    }

    private static byte[] tiff(int orientation, int byteOrder) {
        ByteBuffer tiff = ByteBuffer.allocate(26).putShort((short) byteOrder);
        if (byteOrder == 0x4949) {
            tiff.order(java.nio.ByteOrder.LITTLE_ENDIAN);
        }
        tiff.putShort((short) 42).putInt(8).putShort((short) 1);
        tiff.putShort((short) 0x0112).putShort((short) 3).putInt(1);
        return tiff.putShort((short) orientation).array();
    }
}
