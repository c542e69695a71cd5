package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Rect;
import org.opencv.core.Scalar;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The chunks of a WebP, and the first frame of an animation, since OpenCV rejects animations.
 * Parsed here because Commons Imaging allocates the claimed length of a chunk ({@code
 * HeaderParsersTest}).
 */
final class WebpChunks {

    private static final int FIRST = 12;
    private static final int CONTENT = 20;
    private static final int OVERHEAD = 8;
    private static final int FRAME_HEADER = 16;
    private static final int ALPHA = 0x10;
    private static final byte[] EXIF_PREFIX = "Exif\0\0".getBytes(US_ASCII);

    private final ByteBuffer webp;

    WebpChunks(byte[] bytes) {
        webp = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private Optional<ByteBuffer> find(String kind) {
        int at = FIRST;
        while (at + OVERHEAD <= webp.limit()) {
            long end = at + OVERHEAD + Integer.toUnsignedLong(webp.getInt(at + 4));
            if (end > webp.limit()) {
                return Optional.empty();
            }
            if (US_ASCII.decode(webp.slice(at, 4)).toString().equals(kind)) {
                int start = at + OVERHEAD;
                return Optional.of(
                        webp.slice(start, (int) end - start).order(ByteOrder.LITTLE_ENDIAN));
            }
            at = Math.toIntExact(end + end % 2);
        }
        return Optional.empty();
    }

    static ImageHeader header(byte[] bytes) {
        ByteBuffer webp = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        String kind = US_ASCII.decode(webp.slice(FIRST, 4)).toString();
        Size size =
                switch (kind) {
                    case "VP8 " -> size(webp.getShort(CONTENT + 6), webp.getShort(CONTENT + 8), 14);
                    case "VP8L" -> {
                        int sides = webp.getInt(CONTENT + 1);
                        yield sizePlusOne(sides, sides >>> 14, 14);
                    }
                    case "VP8X" ->
                            sizePlusOne(
                                    webp.getInt(CONTENT + 4), webp.getInt(CONTENT + 6) >>> 8, 24);
                    default ->
                            throw new IllegalArgumentException(
                                    "its first chunk is not VP8, VP8L or" + " VP8X");
                };
        boolean complete = bytes.length - 8 >= Integer.toUnsignedLong(webp.getInt(4));
        return new ImageHeader(
                ImageHeader.Kind.WEBP,
                size,
                /* channels= */ 3,
                Byte.SIZE,
                ImageHeader.UPRIGHT,
                complete ? ImageHeader.SOUND : ImageHeader.TRUNCATED,
                new WebpChunks(bytes).warnings());
    }

    private static Size sizePlusOne(int width, int height, int bits) {
        Size less = size(width, height, bits);
        return new Size(less.height() + 1, less.width() + 1);
    }

    private static Size size(int width, int height, int bits) {
        int mask = (1 << bits) - 1;
        return new Size(height & mask, width & mask);
    }

    boolean isAnimated() {
        return find("ANIM").isPresent() || find("ANMF").isPresent();
    }

    List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        if (isAnimated()) {
            warnings.add("is animated; only its first frame is read");
        }
        int orientation =
                find("EXIF")
                        .map(WebpChunks::withoutPrefix)
                        .map(TiffDirectory::orientation)
                        .orElse(ImageHeader.UPRIGHT);
        if (orientation != ImageHeader.UPRIGHT) {
            warnings.add(
                    "has EXIF orientation "
                            + orientation
                            + ", which is ignored in WebP; save it upright");
        }
        return warnings;
    }

    private static ByteBuffer withoutPrefix(ByteBuffer exif) {
        int prefix = EXIF_PREFIX.length;
        boolean has = exif.mismatch(ByteBuffer.wrap(EXIF_PREFIX)) == prefix;
        return has ? exif.slice(prefix, exif.limit() - prefix) : exif;
    }

    /** A frame of an animation: a still WebP, and its position on the canvas. */
    @SuppressWarnings("ArrayRecordComponent")
    record Frame(byte[] still, Rect place) {

        /** Returns the canvas with the frame, [H, W, 3]; black elsewhere. */
        Mat on(Size canvas, Mat frame) {
            Mat image = new Mat(canvas.height(), canvas.width(), CvType.CV_8UC3, new Scalar(0));
            Mat part = image.submat(place);
            frame.copyTo(part);
            part.release();
            return image;
        }
    }

    /** Returns the first frame of an animation; throws if it exceeds the canvas. */
    Frame firstFrame(Size canvas) {
        ByteBuffer frame =
                find("ANMF").orElseThrow(() -> new IllegalArgumentException("it has no frame"));
        checkArgument(frame.limit() > FRAME_HEADER, "its first frame is truncated");
        int x = 2 * number(frame, 0);
        int y = 2 * number(frame, 3);
        int width = 1 + number(frame, 6);
        int height = 1 + number(frame, 9);
        checkArgument(
                x + width <= canvas.width() && y + height <= canvas.height(),
                "its first frame exceeds its canvas");
        ByteBuffer header = ByteBuffer.allocate(18).order(ByteOrder.LITTLE_ENDIAN);
        header.put("VP8X".getBytes(US_ASCII)).putInt(10).putInt(ALPHA);
        header.put(frame.slice(6, 6));
        byte[] chunks = new byte[frame.limit() - FRAME_HEADER];
        frame.get(FRAME_HEADER, chunks);
        ByteBuffer riff = ByteBuffer.allocate(FIRST).order(ByteOrder.LITTLE_ENDIAN);
        riff.put("RIFF".getBytes(US_ASCII)).putInt(4 + header.capacity() + chunks.length);
        riff.put("WEBP".getBytes(US_ASCII));
        ByteArrayOutputStream still = new ByteArrayOutputStream();
        still.writeBytes(riff.array());
        still.writeBytes(header.array());
        still.writeBytes(chunks);
        return new Frame(still.toByteArray(), new Rect(x, y, width, height));
    }

    private static int number(ByteBuffer frame, int at) {
        return Short.toUnsignedInt(frame.getShort(at))
                | Byte.toUnsignedInt(frame.get(at + 2)) << Short.SIZE;
    }
}
