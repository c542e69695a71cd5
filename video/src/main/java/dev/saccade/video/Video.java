package dev.saccade.video;

import static com.google.common.base.Preconditions.checkState;

import static org.bytedeco.ffmpeg.global.avcodec.AV_CODEC_PROP_INTRA_ONLY;
import static org.bytedeco.ffmpeg.global.avcodec.AV_PKT_FLAG_DISCARD;
import static org.bytedeco.ffmpeg.global.avcodec.av_packet_alloc;
import static org.bytedeco.ffmpeg.global.avcodec.av_packet_free;
import static org.bytedeco.ffmpeg.global.avcodec.av_packet_unref;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_alloc_context3;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_free_context;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_open2;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_parameters_to_context;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_receive_frame;
import static org.bytedeco.ffmpeg.global.avcodec.avcodec_send_packet;
import static org.bytedeco.ffmpeg.global.avformat.AV_DISPOSITION_ATTACHED_PIC;
import static org.bytedeco.ffmpeg.global.avformat.av_find_best_stream;
import static org.bytedeco.ffmpeg.global.avformat.av_guess_frame_rate;
import static org.bytedeco.ffmpeg.global.avformat.av_guess_sample_aspect_ratio;
import static org.bytedeco.ffmpeg.global.avformat.av_read_frame;
import static org.bytedeco.ffmpeg.global.avformat.avformat_alloc_context;
import static org.bytedeco.ffmpeg.global.avformat.avformat_close_input;
import static org.bytedeco.ffmpeg.global.avformat.avformat_find_stream_info;
import static org.bytedeco.ffmpeg.global.avformat.avformat_open_input;
import static org.bytedeco.ffmpeg.global.avutil.AVERROR_EAGAIN;
import static org.bytedeco.ffmpeg.global.avutil.AVERROR_EOF;
import static org.bytedeco.ffmpeg.global.avutil.AVERROR_STREAM_NOT_FOUND;
import static org.bytedeco.ffmpeg.global.avutil.AVMEDIA_TYPE_VIDEO;
import static org.bytedeco.ffmpeg.global.avutil.av_color_space_name;
import static org.bytedeco.ffmpeg.global.avutil.av_dict_free;
import static org.bytedeco.ffmpeg.global.avutil.av_dict_get;
import static org.bytedeco.ffmpeg.global.avutil.av_dict_set;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_alloc;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_free;
import static org.bytedeco.ffmpeg.global.avutil.av_q2d;
import static org.bytedeco.ffmpeg.global.avutil.av_strerror;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.datasets.image.OpenCv;

import org.bytedeco.ffmpeg.avcodec.AVCodec;
import org.bytedeco.ffmpeg.avcodec.AVCodecContext;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avformat.AVFormatContext;
import org.bytedeco.ffmpeg.avformat.AVInputFormat;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVDictionary;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.opencv.core.Mat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * A video file read frame by frame with FFmpeg: H.264 and H.265 in MP4, MOV and MKV, VP9 in WebM,
 * AVI and more.
 *
 * <pre>{@code
 * try (Video video = Video.open(Path.of("clip.mp4"))) {
 *     for (Optional<Frame> next = video.next(); next.isPresent(); next = video.next()) {
 *         try (Frame frame = next.get()) {
 *             System.out.println(frame.seconds() + " s: " + detector.detect(frame.image()));
 *         }
 *     }
 *     video.fault().ifPresent(System.err::println);
 *     video.notes().forEach(System.err::println);
 * }
 * }</pre>
 *
 * <p>Memory does not grow with the length of the video. Only local files are read, never files or
 * URLs in a playlist. Not thread-safe.
 */
public final class Video implements AutoCloseable {

    /** Containers that cannot refer to other files, unlike playlists. */
    private static final String FORMATS =
            "mov,matroska,avi,mpegts,mpeg,mpegvideo,flv,asf,ogg,ivf,h264,hevc,m4v,mjpeg,mxf,wtv";

    /** Decoder threads; fixed, as the delay of decoder errors depends on their number. */
    private static final int THREADS = 4;

    private final Path file;
    private final AVFormatContext format;
    private final AVCodecContext codec;
    private final AVPacket packet;
    private final AVFrame decoded;
    private final int stream;
    private final int videoStreams;
    private final Colors colors;
    private final Timeline timeline;
    private final Faults faults;
    private final FrameReport report = new FrameReport();
    private final double framesPerSecond;
    private final long declared;
    private long read;
    private double lastSeconds;
    private boolean drained;
    private boolean closed;

    /**
     * A frame of a video.
     *
     * @param number frame index, from 0
     * @param seconds time after the first frame; strictly increasing
     * @param image [H, W, 3] BGR uint8, upright; released by {@link #close}
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
        stream = bestStream(decoder);
        if (stream < 0) {
            throw refusal("contains no video stream that FFmpeg can decode: " + text(stream));
        }
        videoStreams = videos().size();
        AVStream found = format.streams(stream);
        codec = avcodec_alloc_context3(decoder);
        try {
            require(avcodec_parameters_to_context(codec, found.codecpar()));
            codec.max_pixels(ImageInfo.MAX_PIXELS);
            codec.thread_count(THREADS);
            require(avcodec_open2(codec, decoder, (AVDictionary) null));
        } catch (SaccadeException e) {
            avcodec_free_context(codec);
            throw e;
        }
        packet = av_packet_alloc();
        decoded = av_frame_alloc();
        colors = new Colors();
        framesPerSecond = av_q2d(av_guess_frame_rate(format, found, null));
        declared = found.nb_frames();
        faults = new Faults(declared);
        timeline = new Timeline(av_q2d(found.time_base()), framesPerSecond);
        if (av_dict_get(found.metadata(), "alpha_mode", null, 0) != null) {
            report.addAlpha();
        }
    }

    /** Returns the index of the video stream and sets its decoder; cover images do not count. */
    private int bestStream(AVCodec decoder) {
        int best = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, decoder, 0);
        return best >= 0 && !isVideo(format.streams(best))
                ? videos().stream()
                        .mapToInt(AVStream::index)
                        .map(
                                i ->
                                        av_find_best_stream(
                                                format, AVMEDIA_TYPE_VIDEO, i, -1, decoder, 0))
                        .findFirst()
                        .orElse(AVERROR_STREAM_NOT_FOUND())
                : best;
    }

    private List<AVStream> videos() {
        return IntStream.range(0, format.nb_streams())
                .mapToObj(format::streams)
                .filter(Video::isVideo)
                .toList();
    }

    private static boolean isVideo(AVStream stream) {
        return stream.codecpar().codec_type() == AVMEDIA_TYPE_VIDEO
                && (stream.disposition() & AV_DISPOSITION_ATTACHED_PIC) == 0;
    }

    /**
     * Opens a file.
     *
     * @throws SaccadeException of kind user, if the file is not a supported video
     */
    public static Video open(Path file) {
        if (!Files.isRegularFile(file)) {
            throw SaccadeException.user(
                    "%s: %s", file, Files.exists(file) ? "is not a regular file" : "no such file");
        }
        OpenCv.load();
        FFmpeg.load(file);
        AVFormatContext format = avformat_alloc_context();
        AVDictionary options = new AVDictionary(null);
        av_dict_set(options, "protocol_whitelist", "file", 0);
        av_dict_set(options, "format_whitelist", FORMATS, 0);
        // Without a protocol, a name such as http:a.mp4 would be a URL.
        int opened =
                avformat_open_input(
                        format, "file:" + file.toAbsolutePath(), (AVInputFormat) null, options);
        av_dict_free(options);
        if (opened < 0) {
            throw refusal(file, "is not a video that FFmpeg can read: " + text(opened));
        }
        try {
            return new Video(file, format);
        } catch (RuntimeException e) {
            avformat_close_input(format);
            throw e;
        }
    }

    /** Returns the frame rate estimated by FFmpeg; 0 if unknown. */
    public double framesPerSecond() {
        return framesPerSecond;
    }

    /** Returns the frame count according to the file, if known. */
    public OptionalLong declaredFrames() {
        return declared > 0 ? OptionalLong.of(declared) : OptionalLong.empty();
    }

    /** Returns the next frame, which the caller closes; empty at the end. */
    public Optional<Frame> next() {
        return decode() ? Optional.of(frame()) : Optional.empty();
    }

    /** Decodes the next frame without converting it; returns false at the end. */
    public boolean skip() {
        return decode();
    }

    /**
     * Returns errors such as truncation or undecodable parts; call it after the last frame. Errors
     * that the codec cannot detect are not included.
     */
    public Optional<String> fault() {
        return faults.text(lastSeconds).map(text -> file + ": " + text);
    }

    /**
     * Returns notes on guessed or ignored properties; call it after the last frame. Examples: color
     * matrix, HDR, pixel shape, interlacing, restarted time stamps, other video streams.
     */
    public List<String> notes() {
        List<String> notes = new ArrayList<>(report.notes());
        notes.addAll(timeline.notes());
        if (videoStreams > 1) {
            notes.add(
                    Text.format("%d video streams; only stream %d is read", videoStreams, stream));
        }
        return notes.stream().map(note -> file + ": " + note).toList();
    }

    private boolean decode() {
        checkState(!closed, "the video is closed");
        while (true) {
            int received = avcodec_receive_frame(codec, decoded);
            if (received >= 0) {
                count();
                return true;
            }
            if (received == AVERROR_EOF()) {
                return false;
            }
            if (received != AVERROR_EAGAIN()) {
                reportLostPacket(received);
            } else if (drained) {
                return false;
            } else {
                feed();
            }
        }
    }

    private void count() {
        lastSeconds = timeline.next(decoded);
        faults.addFrame(decoded, codec.has_b_frames());
        report.add(
                decoded,
                read,
                av_guess_sample_aspect_ratio(format, format.streams(stream), decoded),
                Orientation.of(decoded));
        read++;
    }

    private void feed() {
        int got = av_read_frame(format, packet);
        if (got < 0) {
            drained = true;
            faults.end(
                    got == AVERROR_EOF()
                            ? Optional.empty()
                            : Optional.of("the file cannot be read further (" + text(got) + ")"),
                    codec.has_b_frames());
            avcodec_send_packet(codec, new AVPacket(null));
            return;
        }
        if (packet.stream_index() == stream) {
            boolean isShown = (packet.flags() & AV_PKT_FLAG_DISCARD) == 0;
            boolean timesRestart = isShown && timeline.shift(packet);
            faults.addPacket(packet, timesRestart, codec.has_b_frames());
            int sent = avcodec_send_packet(codec, packet);
            if (sent < 0) {
                reportLostPacket(sent);
            }
        }
        av_packet_unref(packet);
    }

    private void reportLostPacket(int error) {
        boolean hasOnlyKeyFrames =
                (codec.codec_descriptor().props() & AV_CODEC_PROP_INTRA_ONLY) != 0;
        faults.addLostPacket(text(error), codec.has_b_frames() + THREADS, !hasOnlyKeyFrames);
    }

    private Frame frame() {
        if (Colors.isUnsupported(decoded)) {
            throw refusal(
                    Text.format(
                            "color matrix %s is not supported",
                            av_color_space_name(decoded.colorspace()).getString()));
        }
        Orientation orientation = Orientation.of(decoded);
        require(colors.convert(decoded));
        Mat pixels = colors.pixels();
        Mat image = orientation.apply(pixels);
        pixels.release();
        return new Frame(read - 1, lastSeconds, image);
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
                "%s: %s; if another program can play it, extract the frames, for example with"
                        + " ffmpeg -i FILE frames/%%06d.jpg",
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
        colors.close();
        avcodec_free_context(codec);
        avformat_close_input(format);
    }
}
