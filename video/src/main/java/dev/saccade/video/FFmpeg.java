package dev.saccade.video;

import static org.bytedeco.ffmpeg.global.avutil.AV_LOG_QUIET;
import static org.bytedeco.ffmpeg.global.avutil.av_log_set_level;

import dev.saccade.core.SaccadeException;

import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avformat;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.ffmpeg.global.swscale;
import org.bytedeco.javacpp.Loader;

import java.nio.file.Path;

/** Native libraries of FFmpeg, from a platform-specific jar. */
final class FFmpeg {

    private FFmpeg() {}

    /**
     * Loads the libraries and silences their log, which quotes file content.
     *
     * @param file video named in the error message
     * @throws SaccadeException of kind user, if the platform has no libraries
     */
    static void load(Path file) {
        try {
            Loader.load(avutil.class);
            Loader.load(avcodec.class);
            Loader.load(avformat.class);
            Loader.load(swscale.class);
            av_log_set_level(AV_LOG_QUIET);
        } catch (LinkageError e) {
            throw SaccadeException.user(
                    e,
                    "%s: FFmpeg, which reads videos, cannot be loaded on %s: %s; add the"
                            + " artifacts org.bytedeco:ffmpeg and org.bytedeco:javacpp with"
                            + " classifier %s, or extract the frames with ffmpeg -i FILE"
                            + " frames/%%06d.jpg and predict the images",
                    file,
                    Loader.getPlatform(),
                    e.getMessage(),
                    Loader.getPlatform());
        }
    }
}
