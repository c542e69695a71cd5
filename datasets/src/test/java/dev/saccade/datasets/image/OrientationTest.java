package dev.saccade.datasets.image;

import static dev.saccade.datasets.image.OddFiles.BYTE;
import static dev.saccade.datasets.image.OddFiles.LONG;
import static dev.saccade.datasets.image.OddFiles.ORIENTATION;
import static dev.saccade.datasets.image.OddFiles.SHORT;
import static dev.saccade.datasets.image.OddFiles.chunk;
import static dev.saccade.datasets.image.OddFiles.damagedChunk;
import static dev.saccade.datasets.image.OddFiles.entry;
import static dev.saccade.datasets.image.OddFiles.entryTo;
import static dev.saccade.datasets.image.OddFiles.exif;
import static dev.saccade.datasets.image.OddFiles.exifSegment;
import static dev.saccade.datasets.image.OddFiles.find;
import static dev.saccade.datasets.image.OddFiles.insert;
import static dev.saccade.datasets.image.OddFiles.jpeg;
import static dev.saccade.datasets.image.OddFiles.png;
import static dev.saccade.datasets.image.OddFiles.segment;
import static dev.saccade.datasets.image.OddFiles.tiff;
import static dev.saccade.datasets.image.OddFiles.withEntry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What the header says of the orientation holds for the pixels, however it is written down. */
class OrientationTest {

    private static final int WIDTH = 40;
    private static final int HEIGHT = 24;
    private static final Mat PIXELS = pixels();
    private static final byte[] JPEG = encode(".jpg");
    private static final byte[] PNG = encode(".png");
    private static final byte[] TIFF = encode(".tiff");
    private static final byte[] WEBP = encode(".webp");
    private static final byte[] XMP =
            "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>".getBytes(US_ASCII);

    /** Turned by what is written. */
    private static final Map<String, IntFunction<byte[]>> TURNED = new LinkedHashMap<>();

    /** Upright, whatever is written. */
    private static final Map<String, IntFunction<byte[]>> UPRIGHT = new LinkedHashMap<>();

    @TempDir Path folder;

    /** Returns a picture of large squares that are all different. */
    private static Mat pixels() {
        OpenCv.load();
        Mat image = new Mat(HEIGHT, WIDTH, CvType.CV_8UC3);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                image.put(y, x, new byte[] {(byte) (x / 8 * 50), (byte) (y / 8 * 100), 77});
            }
        }
        return image;
    }

    private static byte[] encode(String ending) {
        MatOfByte encoded = new MatOfByte();
        Imgcodecs.imencode(ending, PIXELS, encoded);
        return encoded.toArray();
    }

    @BeforeAll
    static void makeJpegs() {
        TURNED.put("JPEG", o -> jpeg(JPEG, exifSegment(exif(o))));
        TURNED.put(
                "JPEG, little-endian",
                o ->
                        jpeg(
                                JPEG,
                                exifSegment(
                                        tiff(
                                                LITTLE_ENDIAN,
                                                new byte[0],
                                                entry(LITTLE_ENDIAN, ORIENTATION, SHORT, 1, o)))));
        TURNED.put("JPEG, XMP first", o -> jpeg(JPEG, segment(0xE1, XMP), exifSegment(exif(o))));
        TURNED.put("JPEG, LONG", o -> jpeg(JPEG, exifSegment(exif(LONG, 1, o))));
        TURNED.put("JPEG, BYTE", o -> jpeg(JPEG, exifSegment(exif(BYTE, 1, o))));
        TURNED.put("JPEG, two values", o -> jpeg(JPEG, exifSegment(exif(SHORT, 2, o))));
        TURNED.put(
                "JPEG, two EXIF segments, the other upright",
                o -> jpeg(JPEG, exifSegment(exif(o)), exifSegment(exif(1))));
        TURNED.put(
                "JPEG, two EXIF segments, the other turned",
                o -> jpeg(JPEG, exifSegment(exif(o)), exifSegment(exif(5))));
        TURNED.put(
                "JPEG, two entries",
                o ->
                        jpeg(
                                JPEG,
                                exifSegment(
                                        tiff(
                                                BIG_ENDIAN,
                                                new byte[0],
                                                entry(BIG_ENDIAN, ORIENTATION, SHORT, 1, o),
                                                entry(BIG_ENDIAN, ORIENTATION, SHORT, 1, 8)))));
        TURNED.put(
                "JPEG, three values elsewhere",
                o ->
                        jpeg(
                                JPEG,
                                exifSegment(
                                        tiff(
                                                BIG_ENDIAN,
                                                new byte[] {0, (byte) o, 0, 7, 0, 7},
                                                entryTo(BIG_ENDIAN, ORIENTATION, SHORT, 3, 26)))));
        TURNED.put(
                "JPEG, EXIF behind the size",
                o -> insert(JPEG, find(JPEG, 0xDA), exifSegment(exif(o))));
        TURNED.put(
                "JPEG, fewer entries than told",
                o -> {
                    byte[] exif = exif(o);
                    exif[9] = 60;
                    return jpeg(JPEG, exifSegment(exif));
                });
        UPRIGHT.put("JPEG, no value", o -> jpeg(JPEG, exifSegment(exif(SHORT, 0, o))));
        UPRIGHT.put("JPEG, of a text", o -> jpeg(JPEG, exifSegment(exif(2, 1, o << 24))));
        UPRIGHT.put(
                "JPEG, EXIF behind the pixels",
                o -> insert(JPEG, JPEG.length - 2, exifSegment(exif(o))));
        UPRIGHT.put(
                "JPEG, a directory beyond the end",
                o -> {
                    byte[] exif = exif(o);
                    exif[5] = 1;
                    return jpeg(JPEG, exifSegment(exif));
                });
        UPRIGHT.put(
                "JPEG, values beyond the end",
                o -> jpeg(JPEG, exifSegment(exif(LONG, 2, 0x7FFFFF00 + o))));
    }

    @BeforeAll
    static void makePngs() {
        byte[] raw = ("Raw profile type exif\0\nexif\n 26\n" + "00".repeat(26)).getBytes(US_ASCII);
        TURNED.put("PNG", o -> png(PNG, chunk("eXIf", exif(o))));
        TURNED.put("PNG, LONG", o -> png(PNG, chunk("eXIf", exif(LONG, 1, o))));
        TURNED.put(
                "PNG, EXIF at the end", o -> insert(PNG, PNG.length - 12, chunk("eXIf", exif(o))));
        TURNED.put(
                "PNG, damaged EXIF first",
                o -> png(PNG, damagedChunk("eXIf", exif(6)), chunk("eXIf", exif(o))));
        TURNED.put(
                "PNG, two of EXIF", o -> png(PNG, chunk("eXIf", exif(o)), chunk("eXIf", exif(8))));
        TURNED.put(
                "PNG, a raw profile too",
                o -> png(PNG, chunk("tEXt", raw), chunk("eXIf", exif(o))));
        UPRIGHT.put("PNG, damaged EXIF", o -> png(PNG, damagedChunk("eXIf", exif(o))));
        UPRIGHT.put("PNG, EXIF cut off", o -> png(PNG, chunk("eXIf", new byte[] {'M', 'M', 0})));
        UPRIGHT.put("PNG, a raw profile", o -> png(PNG, chunk("tEXt", raw)));
    }

    @BeforeAll
    static void makeOthers() {
        TURNED.put("TIFF", o -> withEntry(TIFF, little(SHORT, 1, o)));
        TURNED.put("TIFF, LONG", o -> withEntry(TIFF, little(LONG, 1, o)));
        TURNED.put("TIFF, BYTE", o -> withEntry(TIFF, little(BYTE, 1, o)));
        TURNED.put(
                "TIFF, two entries",
                o -> withEntry(withEntry(TIFF, little(SHORT, 1, 8)), little(SHORT, 1, o)));
        byte[] tiles = OddFiles.tiles(picture());
        ByteOrder order = tiles[0] == 'I' ? LITTLE_ENDIAN : BIG_ENDIAN;
        TURNED.put("TIFF, tiles", o -> withEntry(tiles, entry(order, ORIENTATION, SHORT, 1, o)));
        UPRIGHT.put("TIFF, no value", o -> withEntry(TIFF, little(SHORT, 0, o)));
        UPRIGHT.put("TIFF, values beyond the end", o -> withEntry(TIFF, little(LONG, 2, 1 << 30)));
        UPRIGHT.put("WebP", o -> OddFiles.webp(WEBP, WIDTH, HEIGHT, exif(o)));
    }

    private static BufferedImage picture() {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_3BYTE_BGR);
        byte[] bgr = ((DataBufferByte) image.getRaster().getDataBuffer()).getData();
        PIXELS.get(0, 0, bgr);
        return image;
    }

    private static byte[] little(int type, int count, int value) {
        return entry(LITTLE_ENDIAN, ORIENTATION, type, count, value);
    }

    static Stream<Arguments> files() {
        return Stream.concat(
                TURNED.entrySet().stream().flatMap(kind -> files(kind, true)),
                UPRIGHT.entrySet().stream().flatMap(kind -> files(kind, false)));
    }

    private static Stream<Arguments> files(
            Map.Entry<String, IntFunction<byte[]>> kind, boolean turned) {
        return IntStream.rangeClosed(0, 9)
                .mapToObj(
                        orientation ->
                                Arguments.of(
                                        kind.getKey(),
                                        orientation,
                                        turned && orientation > 0 && orientation < 9
                                                ? orientation
                                                : 1,
                                        kind.getValue().apply(orientation)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("files")
    void rotatesThePixelsByTheHeader(String kind, int written, int expected, byte[] bytes)
            throws IOException {
        assertTurned(bytes, expected, plain(kind));
    }

    private static byte[] plain(String kind) {
        return switch (kind.substring(0, 3)) {
            case "JPE" -> JPEG;
            case "PNG" -> PNG;
            case "TIF" -> TIFF;
            default -> WEBP;
        };
    }

    @ParameterizedTest
    @MethodSource("orientations")
    void rotatesBigTiffs(int orientation) throws IOException {
        byte[] pixels = new byte[WIDTH * HEIGHT];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) (i * 7);
        }
        assertTurned(
                OddFiles.bigTiff(WIDTH, pixels, orientation),
                orientation,
                OddFiles.bigTiff(WIDTH, pixels, 1));
    }

    static IntStream orientations() {
        return IntStream.rangeClosed(1, 8);
    }

    /** Checks a file against the same pixels without an orientation, as OpenCV reads them. */
    private void assertTurned(byte[] file, int orientation, byte[] plain) throws IOException {
        ImageHeader header = ImageHeader.read("x", file);
        assertEquals(orientation, header.orientation());
        assertEquals(new Size(HEIGHT, WIDTH), header.storedSize());
        Mat stored = Imgcodecs.imdecode(new MatOfByte(plain), Imgcodecs.IMREAD_COLOR);
        byte[] expected = upright(stored, orientation);
        for (ImageSource source :
                new ImageSource[] {
                    ImageSource.of(file), ImageSource.of(Files.write(folder.resolve("image"), file))
                }) {
            Mat image = source.read();
            assertEquals(header.size(), new Size(image.rows(), image.cols()));
            byte[] pixels = new byte[expected.length];
            image.get(0, 0, pixels);
            assertArrayEquals(expected, pixels);
            image.release();
        }
    }

    /** Returns the pixels of an upright image, each fetched from where EXIF says that it lies. */
    private static byte[] upright(Mat stored, int orientation) {
        int height = orientation >= 5 ? WIDTH : HEIGHT;
        int width = orientation >= 5 ? HEIGHT : WIDTH;
        ByteBuffer pixels = ByteBuffer.allocate(3 * WIDTH * HEIGHT);
        byte[] pixel = new byte[3];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int right = width - 1 - x;
                int bottom = height - 1 - y;
                switch (orientation) {
                    case 1 -> stored.get(y, x, pixel);
                    case 2 -> stored.get(y, right, pixel);
                    case 3 -> stored.get(bottom, right, pixel);
                    case 4 -> stored.get(bottom, x, pixel);
                    case 5 -> stored.get(x, y, pixel);
                    case 6 -> stored.get(right, y, pixel);
                    case 7 -> stored.get(right, bottom, pixel);
                    default -> stored.get(x, bottom, pixel);
                }
                pixels.put(pixel);
            }
        }
        return pixels.array();
    }
}
