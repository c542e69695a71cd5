package dev.saccade.video;

import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_BT2020;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_BT470BG;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_BT709;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_SMPTE170M;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_PRI_UNSPECIFIED;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_RANGE_JPEG;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_RANGE_MPEG;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_SPC_BT2020_NCL;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_SPC_BT709;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_SPC_RESERVED;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_SPC_RGB;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_SPC_SMPTE170M;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_SPC_UNSPECIFIED;
import static org.bytedeco.ffmpeg.global.avutil.AVCOL_TRC_UNSPECIFIED;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_BGR24;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_FLAG_BAYER;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_FLAG_PAL;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_FLAG_RGB;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_FLAG_XYZ;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_alloc;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_free;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_unref;
import static org.bytedeco.ffmpeg.global.avutil.av_pix_fmt_desc_get;
import static org.bytedeco.ffmpeg.global.swscale.SWS_BICUBIC;
import static org.bytedeco.ffmpeg.global.swscale.sws_alloc_context;
import static org.bytedeco.ffmpeg.global.swscale.sws_freeContext;
import static org.bytedeco.ffmpeg.global.swscale.sws_scale_frame;
import static org.bytedeco.ffmpeg.global.swscale.sws_test_colorspace;

import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.avutil.AVPixFmtDescriptor;
import org.bytedeco.ffmpeg.swscale.SwsContext;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

/** Converts frames to BGR with the color matrix and range of each frame. */
final class Colors implements AutoCloseable {

    /** {@code AV_FRAME_FLAG_INTERLACED}, missing in the bindings. */
    static final int INTERLACED = 1 << 3;

    private static final int BLACK = 16;
    private static final double LIMITED_RANGE = 219;

    private final SwsContext converter = sws_alloc_context();
    private final AVFrame bgr = av_frame_alloc();
    private boolean isLimitedRange;

    Colors() {
        converter.flags(SWS_BICUBIC);
    }

    /** Converts a frame and changes its color tags; a negative result is an FFmpeg error code. */
    int convert(AVFrame frame) {
        if (isYuv(frame)) {
            frame.colorspace(matrix(frame));
        }
        isLimitedRange = !isYuv(frame) && frame.color_range() == AVCOL_RANGE_MPEG;
        // No tone mapping, deinterlacing or gamut conversion.
        frame.color_trc(AVCOL_TRC_UNSPECIFIED).color_primaries(AVCOL_PRI_UNSPECIFIED);
        frame.flags(frame.flags() & ~INTERLACED);
        av_frame_unref(bgr);
        bgr.format(AV_PIX_FMT_BGR24).width(frame.width()).height(frame.height());
        bgr.colorspace(AVCOL_SPC_RGB).color_range(AVCOL_RANGE_JPEG);
        return sws_scale_frame(converter, bgr, frame);
    }

    /** Returns the converted frame, [H, W, 3] BGR uint8; valid until the next conversion. */
    Mat pixels() {
        long stride = bgr.linesize(0);
        Mat pixels =
                new Mat(
                        bgr.height(),
                        bgr.width(),
                        CvType.CV_8UC3,
                        bgr.data(0).capacity(stride * bgr.height()).asByteBuffer(),
                        stride);
        if (isLimitedRange) {
            // swscale treats gray and RGB as full range, regardless of the tag.
            double scale = 255 / LIMITED_RANGE;
            pixels.convertTo(pixels, -1, scale, -BLACK * scale);
        }
        return pixels;
    }

    static boolean isYuv(AVFrame frame) {
        AVPixFmtDescriptor format = av_pix_fmt_desc_get(frame.format());
        int others =
                AV_PIX_FMT_FLAG_RGB
                        | AV_PIX_FMT_FLAG_PAL
                        | AV_PIX_FMT_FLAG_BAYER
                        | AV_PIX_FMT_FLAG_XYZ;
        return format.nb_components() >= 3 && (format.flags() & others) == 0;
    }

    /** Returns whether the color matrix of a frame is not supported. */
    static boolean isUnsupported(AVFrame frame) {
        return isYuv(frame) && isTagged(frame) && sws_test_colorspace(frame.colorspace(), 0) == 0;
    }

    /** Returns whether BT.709 is assumed from the frame size. */
    static boolean isGuessed(AVFrame frame) {
        return isYuv(frame)
                && !isTagged(frame)
                && frame.color_primaries() == AVCOL_PRI_UNSPECIFIED
                && isLarge(frame);
    }

    private static boolean isTagged(AVFrame frame) {
        return switch (frame.colorspace()) {
            case AVCOL_SPC_UNSPECIFIED, AVCOL_SPC_RESERVED, AVCOL_SPC_RGB -> false;
            default -> true;
        };
    }

    /** Returns the color matrix; guessed as in mpv if a frame is untagged. */
    private static int matrix(AVFrame frame) {
        if (isTagged(frame)) {
            return frame.colorspace();
        }
        return switch (frame.color_primaries()) {
            case AVCOL_PRI_BT2020 -> AVCOL_SPC_BT2020_NCL;
            case AVCOL_PRI_BT709 -> AVCOL_SPC_BT709;
            case AVCOL_PRI_BT470BG, AVCOL_PRI_SMPTE170M -> AVCOL_SPC_SMPTE170M;
            default -> isLarge(frame) ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
        };
    }

    private static boolean isLarge(AVFrame frame) {
        return frame.width() >= 1280 || frame.height() > 576;
    }

    @Override
    public void close() {
        sws_freeContext(converter);
        av_frame_free(bgr);
    }
}
