package dev.saccade.video;

import static com.google.common.base.Preconditions.checkState;

import static org.bytedeco.ffmpeg.global.avcodec.AV_PKT_DATA_DISPLAYMATRIX;
import static org.bytedeco.ffmpeg.global.avcodec.av_packet_alloc;
import static org.bytedeco.ffmpeg.global.avcodec.av_packet_free;
import static org.bytedeco.ffmpeg.global.avcodec.av_packet_side_data_get;
import static org.bytedeco.ffmpeg.global.avcodec.av_packet_unref;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_alloc_context3;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_free_context;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_open2;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_parameters_to_context;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_receive_frame;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_send_packet;
import static org.bytedeco.ffmpeg.global.avformat.av_find_best_stream;
import static org.bytedeco.ffmpeg.global.avformat.av_guess_frame_rate;
import static org.bytedeco.ffmpeg.global.avformat.av_read_frame;
import static org.bytedeco.ffmpeg.global.avformat.avformat_alloc_context;
import static org.bytedeco.ffmpeg.global.avformat.avformat_close_input;
import static org.bytedeco.ffmpeg.global.avformat.avformat_find_stream_info;
import static org.bytedeco.ffmpeg.global.avformat.avformat_open_input;
import static org.bytedeco.ffmpeg.global.avutil.AVERROR_EAGAIN;
import static org.bytedeco.ffmpeg.global.avutil.AVERROR_EOF;
import static org.bytedeco.ffmpeg.global.avutil.AVMEDIA_TYPE_VIDEO;
import static org.bytedeco.ffmpeg.global.avutil.AV_NOPTS_VALUE;
import static org.bytedeco.ffmpeg.global.avutil.AV_PIX_FMT_BGR24;
import static org.bytedeco.ffmpeg.global.avutil.av_dict_free;
import static org.bytedeco.ffmpeg.global.avutil.av_dict_set;
import static org.bytedeco.ffmpeg.global.avutil.av_display_rotation_get;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_alloc;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_free;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_unref;
import static org.bytedeco.ffmpeg.global.avutil.av_q2d;
import static org.bytedeco.ffmpeg.global.avutil.av_strerror;
import static org.bytedeco.ffmpeg.global.swscale.SWS_BICUBIC;
import static org.bytedeco.ffmpeg.global.swscale.sws_freeContext;
import static org.bytedeco.ffmpeg.global.swscale.sws_getCachedContext;
import static org.bytedeco.ffmpeg.global.swscale.sws_scale_frame;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.datasets.image.OpenCv;

import org.bytedeco.ffmpeg.avcodec.AVCodec;
import org.bytedeco.ffmpeg.avcodec.AVCodecContext;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avcodec.AVPacketSideData;
import org.bytedeco.ffmpeg.avformat.AVFormatContext;
import org.bytedeco.ffmpeg.avformat.AVInputFormat;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVDictionary;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.swscale.SwsContext;
import org.bytedeco.ffmpeg.swscale.SwsFilter;
import org.bytedeco.javacpp.DoublePointer;
import org.bytedeco.javacpp.IntPointer;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A video file, one frame at a time: what FFmpeg reads, such as H.264 and H.265 in MP4, MOV and
 * MKV, VP9 in WebM, and AVI.
 *
 * <pre>{@code
 * try (Video video = Video.open(Path.of("clip.mp4"))) {
 *     for (Optional<Frame> next = video.next(); next.isPresent(); next = video.next()) {
 *         try (Frame frame = next.get()) {
 *             System.out.println(frame.seconds() + " s: " + detector.detect(frame.image()));
 *         }
 *     }
 *     video.fault().ifPresent(System.err::println);
 * }
 * }</pre>
 *
 * <p>Only the frame at hand is held, and what its codec refers to. Files alone are read: what a
 * playlist in one refers to, in the net or beside it, is not. Not safe for use by many threads.
 */
public final class Video implements AutoCloseable {

    /** Containers; none of these leads to other files, as playlists do. */
    private static final String FORMATS =
            "mov,matroska,avi,mpegts,mpeg,mpegvideo,flv,asf,ogg,ivf,h264,hevc,m4v,mjpeg,mxf,wtv";

    private static final int QUARTER = 90;

    private final Path file;
    private final AVFormatContext format;
    private final AVCodecContext codec;
    private final AVPacket packet;
    private final AVFrame decoded;
    private final AVFrame bgr;
    private final int stream;
    private final double secondsPerTick;
    private final long start;
    private final double framesPerSecond;
    private final long declared;
    private final int clockwise;
    private SwsContext converter = null;
    private long packets;
    private long read;
    private double lastSeconds;
    private boolean drained;
    private boolean closed;
    private Optional<String> failure = Optional.empty();

    /**
     * A frame of a video.
     *
     * @param number how many come before it
     * @param seconds when it is shown, after the first
     * @param image [H, W, 3] BGR uint8, upright; freed with this
     */
    public record Frame(long number, double seconds, Mat image) implements AutoCloseable {

        @Override
        public void close() {
            image.release();
        }
    }

    private Video(Path file, AVFormatContext format) {
        this.file = file;
        this.format = format;
        require(avformat_find_stream_info(format, (AVDictionary) null));
        AVCodec decoder = new AVCodec(null);
        stream = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, decoder, 0);
        if (stream < 0) {
            throw refusal("holds no video that FFmpeg decodes: " + text(stream));
        }
        AVStream found = format.streams(stream);
        codec = avcodec_alloc_context3(decoder);
        try {
            require(avcodec_parameters_to_context(codec, found.codecpar()));
            codec.max_pixels(ImageInfo.MOST_PIXELS);
            codec.thread_count(0);
            require(avcodec_open2(codec, decoder, (AVDictionary) null));
        } catch (SaccadeException e) {
            avcodec_free_context(codec);
            throw e;
        }
        packet = av_packet_alloc();
        decoded = av_frame_alloc();
        bgr = av_frame_alloc();
        secondsPerTick = av_q2d(found.time_base());
        start = found.start_time() == AV_NOPTS_VALUE ? 0 : found.start_time();
        framesPerSecond = av_q2d(av_guess_frame_rate(format, found, null));
        declared = found.nb_frames();
        clockwise = clockwise(found);
    }

    /**
     * Opens a file.
     *
     * @throws SaccadeException of kind user that names it and says what to do, if it is none that
     *     can be read
     */
    public static Video open(Path file) {
        if (!Files.isRegularFile(file)) {
            throw SaccadeException.user(
                    "%s: %s", file, Files.exists(file) ? "is no regular file" : "no such file");
        }
        OpenCv.load();
        FFmpeg.load(file);
        AVFormatContext format = avformat_alloc_context();
        AVDictionary options = new AVDictionary(null);
        av_dict_set(options, "protocol_whitelist", "file", 0);
        av_dict_set(options, "format_whitelist", FORMATS, 0);
        // Without its protocol, a name such as http:a.mp4 would be an address.
        int opened =
                avformat_open_input(
                        format, "file:" + file.toAbsolutePath(), (AVInputFormat) null, options);
        av_dict_free(options);
        if (opened < 0) {
            throw refusal(file, "is no video that FFmpeg reads: " + text(opened));
        }
        try {
            return new Video(file, format);
        } catch (RuntimeException e) {
            avformat_close_input(format);
            throw e;
        }
    }

    /** Returns the frames of a second, on average; 0 if the file does not say. */
    public double framesPerSecond() {
        return framesPerSecond;
    }

    /** Returns how many frames the file says it has, if it does. */
    public OptionalLong declaredFrames() {
        return declared > 0 ? OptionalLong.of(declared) : OptionalLong.empty();
    }

    /** Returns the next frame, which the caller closes; nothing at the end. */
    public Optional<Frame> next() {
        return decode() ? Optional.of(frame()) : Optional.empty();
    }

    /**
     * Passes over the next frame, which is decoded, since others refer to it, but not converted.
     *
     * @return whether there was one
     */
    public boolean skip() {
        return decode();
    }

    /**
     * Returns why the video is not as it should be, naming the file and the frame, once {@link
     * #next} has given nothing more: it breaks off, or parts of it could not be decoded.
     */
    public Optional<String> fault() {
        if (drained && failure.isEmpty() && packets < declared) {
            failure = Optional.of("the file ends there");
        }
        return failure.map(
                reason ->
                        Text.format(
                                "%s: breaks off after %d frames%s, at %.2f s: %s",
                                file,
                                read,
                                declared > 0 ? " of " + declared : "",
                                lastSeconds,
                                reason));
    }

    private boolean decode() {
        checkState(!closed, "the video is closed");
        while (true) {
            int received = avcodec_receive_frame(codec, decoded);
            if (received >= 0) {
                lastSeconds = seconds();
                read++;
                return true;
            }
            if (received == AVERROR_EOF()) {
                return false;
            }
            if (received != AVERROR_EAGAIN()) {
                fail("a frame cannot be decoded", received);
            } else if (drained) {
                return false;
            } else {
                feed();
            }
        }
    }

    /** Gives the decoder what comes next in the file. */
    private void feed() {
        int got = av_read_frame(format, packet);
        if (got < 0) {
            drained = true;
            if (got != AVERROR_EOF()) {
                fail("the file cannot be read on", got);
            }
            avcodec_send_packet(codec, new AVPacket(null));
            return;
        }
        if (packet.stream_index() == stream) {
            packets++;
            int sent = avcodec_send_packet(codec, packet);
            if (sent < 0) {
                fail("a part cannot be decoded", sent);
            }
        }
        av_packet_unref(packet);
    }

    private void fail(String what, int error) {
        if (failure.isEmpty()) {
            failure = Optional.of(what + " (" + text(error) + ")");
        }
    }

    private double seconds() {
        long time = decoded.best_effort_timestamp();
        if (time != AV_NOPTS_VALUE) {
            return (time - start) * secondsPerTick;
        }
        return framesPerSecond > 0 ? read / framesPerSecond : 0;
    }

    private Frame frame() {
        int width = decoded.width();
        int height = decoded.height();
        converter =
                sws_getCachedContext(
                        converter,
                        width,
                        height,
                        decoded.format(),
                        width,
                        height,
                        AV_PIX_FMT_BGR24,
                        SWS_BICUBIC,
                        (SwsFilter) null,
                        (SwsFilter) null,
                        (DoublePointer) null);
        av_frame_unref(bgr);
        bgr.format(AV_PIX_FMT_BGR24).width(width).height(height);
        require(converter == null ? -1 : sws_scale_frame(converter, bgr, decoded));
        long stride = bgr.linesize(0);
        Mat pixels =
                new Mat(
                        height,
                        width,
                        CvType.CV_8UC3,
                        bgr.data(0).capacity(stride * height).asByteBuffer(),
                        stride);
        Mat image = upright(pixels);
        pixels.release();
        return new Frame(read - 1, lastSeconds, image);
    }

    /** Returns a copy that is turned as the file says, as videos of phones are. */
    private Mat upright(Mat pixels) {
        if (clockwise == 0) {
            return pixels.clone();
        }
        Mat turned = new Mat();
        Core.rotate(
                pixels,
                turned,
                switch (clockwise) {
                    case QUARTER -> Core.ROTATE_90_CLOCKWISE;
                    case 2 * QUARTER -> Core.ROTATE_180;
                    default -> Core.ROTATE_90_COUNTERCLOCKWISE;
                });
        return turned;
    }

    /** Returns by how many degrees frames are turned, a multiple of 90. */
    private static int clockwise(AVStream stream) {
        AVPacketSideData matrix =
                av_packet_side_data_get(
                        stream.codecpar().coded_side_data(),
                        stream.codecpar().nb_coded_side_data(),
                        AV_PKT_DATA_DISPLAYMATRIX);
        if (matrix == null || matrix.isNull()) {
            return 0;
        }
        double degrees = -av_display_rotation_get(new IntPointer(matrix.data()));
        return Double.isNaN(degrees)
                ? 0
                : Math.floorMod((int) Math.round(degrees / QUARTER), 4) * QUARTER;
    }

    private void require(int result) {
        if (result < 0) {
            throw refusal("cannot be decoded: " + text(result));
        }
    }

    private SaccadeException refusal(String reason) {
        return refusal(file, reason);
    }

    private static SaccadeException refusal(Path file, String reason) {
        return SaccadeException.user(
                "%s: %s; where another program plays it, it also makes pictures of the frames, such"
                        + " as ffmpeg -i FILE frames/%%06d.jpg",
                file, reason);
    }

    private static String text(int error) {
        byte[] text = new byte[128];
        av_strerror(error, text, text.length);
        int end = 0;
        while (end < text.length && text[end] != 0) {
            end++;
        }
        return new String(text, 0, end, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        av_packet_free(packet);
        av_frame_free(decoded);
        av_frame_free(bgr);
        sws_freeContext(converter);
        avcodec_free_context(codec);
        avformat_close_input(format);
    }
}
