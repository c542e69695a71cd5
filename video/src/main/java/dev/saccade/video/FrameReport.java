package dev.saccade.video;

import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_BT2020;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_SMPTE431;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_SMPTE432;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_TRC_ARIB_STD_B67;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_TRC_SMPTE2084;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_FLAG_ALPHA;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_FLAG_PAL;
import static org.bytedeco.ffmpeg.global.avutil.av_pix_fmt_desc_get;

import dev.saccade.core.Text;

import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.avutil.AVRational;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects one note for each guessed or ignored frame property. */
final class FrameReport {

    /** Pixels count as square up to this deviation of their aspect ratio from 1. */
    private static final double SQUARE = 0.02;

    private final Set<String> notes = new LinkedHashSet<>();
    private int width;
    private int height;
    private boolean resized;

    /** Inspects a frame before conversion; {@code pixelShape} is width / height of a pixel. */
    void add(AVFrame frame, long number, AVRational pixelShape, Orientation orientation) {
        addColors(frame);
        if ((frame.flags() & Colors.INTERLACED) != 0) {
            notes.add(
                    "frames are interlaced and not deinterlaced; moving objects have comb"
                            + " artifacts (convert with ffmpeg -vf bwdif)");
        }
        if (!orientation.exact()) {
            notes.add("rotation is not a multiple of 90 degrees; the nearest multiple is applied");
        }
        addShape(frame, pixelShape);
        addSize(frame, number);
    }

    private void addColors(AVFrame frame) {
        boolean isHlg = frame.color_trc() == AVCOL_TRC_ARIB_STD_B67;
        if (isHlg || frame.color_trc() == AVCOL_TRC_SMPTE2084) {
            notes.add(
                    Text.format(
                            "HDR (%s) is not tone-mapped; colors are paler than in a player"
                                    + " (convert to SDR first)",
                            isHlg ? "HLG" : "PQ"));
        } else {
            switch (frame.color_primaries()) {
                case AVCOL_PRI_BT2020 -> addGamut("BT.2020");
                case AVCOL_PRI_SMPTE431, AVCOL_PRI_SMPTE432 -> addGamut("P3");
                default -> {}
            }
        }
        if (Colors.isGuessed(frame)) {
            notes.add(
                    "color matrix is not tagged; BT.709 is assumed from the frame size, as players"
                            + " do");
        }
        long flags = av_pix_fmt_desc_get(frame.format()).flags();
        if ((flags & AV_PIX_FMT_FLAG_ALPHA) != 0 && (flags & AV_PIX_FMT_FLAG_PAL) == 0) {
            addAlpha();
        }
    }

    void addAlpha() {
        notes.add("transparency is ignored");
    }

    private void addGamut(String name) {
        notes.add(
                Text.format(
                        "%s primaries are not converted; colors are less saturated than in a"
                                + " player",
                        name));
    }

    private void addShape(AVFrame frame, AVRational pixelShape) {
        double aspect = (double) pixelShape.num() / pixelShape.den();
        if (aspect > 0 && !Double.isInfinite(aspect) && Math.abs(aspect - 1) > SQUARE) {
            notes.add(
                    Text.format(
                            "pixels are not square (%d:%d); frames keep the stored %dx%d pixels,"
                                    + " players show %dx%d",
                            pixelShape.num(),
                            pixelShape.den(),
                            frame.width(),
                            frame.height(),
                            Math.round(frame.width() * aspect),
                            frame.height()));
        }
    }

    private void addSize(AVFrame frame, long number) {
        if (number > 0 && !resized && (frame.width() != width || frame.height() != height)) {
            resized = true;
            notes.add(
                    Text.format(
                            "frame size changes from %dx%d to %dx%d at frame %d",
                            width, height, frame.width(), frame.height(), number));
        }
        width = frame.width();
        height = frame.height();
    }

    List<String> notes() {
        return List.copyOf(notes);
    }
}
