package dev.saccade.datasets.image;

import dev.saccade.core.structures.ImageInfo;

import java.awt.Rectangle;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.imageio.IIOException;
import javax.imageio.ImageIO;
import javax.imageio.ImageReadParam;
import javax.imageio.ImageReader;
import javax.imageio.event.IIOReadWarningListener;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * Checks whether all blocks of a JPEG can be decoded, by the warnings of the JDK's decoder.
 * OpenCV's decoder fills in missing blocks, skips damaged ones and prints to standard error.
 */
final class JpegBlocks implements IIOReadWarningListener {

    private static final Pattern SPARE =
            Pattern.compile("Corrupt JPEG data: (\\d+) extraneous bytes before marker 0x(\\w+)");
    private static final Pattern DAMAGE =
            Pattern.compile("Corrupt JPEG data.*|Inconsistent progression.*");

    /** Errors of the JDK's decoder for valid files that it does not support. */
    private static final Pattern UNSUPPORTED = Pattern.compile("Sorry|Unsupported|Unrecognized");

    private static final String MISSING =
            "is truncated, its last blocks are missing; copy or download it again";
    private static final String DAMAGED =
            "is damaged, some of its blocks cannot be decoded; copy or download it again";

    private final JpegSegments segments;
    private boolean isChecked = true;
    private int spareAtEnd;
    private int spareInside;
    private String fault = ImageHeader.SOUND;

    private JpegBlocks(JpegSegments segments) {
        this.segments = segments;
    }

    static JpegBlocks read(JpegSegments segments) {
        JpegBlocks blocks = new JpegBlocks(segments);
        ImageReader reader = ImageIO.getImageReadersByFormatName("jpeg").next();
        try (MemoryCacheImageInputStream jpeg =
                new MemoryCacheImageInputStream(new ByteArrayInputStream(segments.clean(0)))) {
            if (segments.size().area() > ImageInfo.MAX_PIXELS) {
                throw new IllegalArgumentException("too many pixels");
            }
            reader.setInput(jpeg, /* seekForwardOnly= */ true, /* ignoreMetadata= */ true);
            reader.addIIOReadWarningListener(blocks);
            // To reach the last pixel, all blocks are decoded, but only that pixel is copied.
            ImageReadParam last = reader.getDefaultReadParam();
            last.setSourceRegion(new Rectangle(0, segments.size().height() - 1, 1, 1));
            reader.readRaster(0, last);
        } catch (IIOException e) {
            blocks.isChecked = !UNSUPPORTED.matcher(String.valueOf(e.getMessage())).lookingAt();
            blocks.fault = DAMAGED;
        } catch (IOException | RuntimeException e) {
            blocks.isChecked = false;
        } finally {
            reader.dispose();
        }
        return blocks;
    }

    @Override
    public void warningOccurred(ImageReader source, String warning) {
        Matcher extra = SPARE.matcher(warning);
        if (extra.matches()) {
            int count = Integer.parseInt(extra.group(1));
            boolean isAtEnd = extra.group(2).equals("d9");
            spareAtEnd = isAtEnd ? count : spareAtEnd;
            spareInside += isAtEnd ? 0 : count;
        } else if (warning.contains("remature end")) {
            fault = MISSING;
        } else if (DAMAGE.matcher(warning).matches() && fault.isEmpty()) {
            fault = DAMAGED;
        }
    }

    /** Returns the fault of the blocks; empty if there is none or blocks were not checked. */
    String fault() {
        return isChecked ? fault : ImageHeader.SOUND;
    }

    /** Returns whether all blocks are present, at their full precision. */
    boolean isComplete() {
        return isChecked && fault.isEmpty() && segments.isFinal();
    }

    boolean isBlurred() {
        return isChecked && !segments.isFinal();
    }

    boolean hasSpareInside() {
        return isChecked && spareInside > 0;
    }

    int spare() {
        return isChecked ? spareInside + segments.spare(spareAtEnd) : 0;
    }

    /** Returns the image without bytes that OpenCV warns about, except those between blocks. */
    byte[] clean() {
        return segments.clean(isChecked ? spareAtEnd : 0);
    }
}
