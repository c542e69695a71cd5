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

/** The native libraries of FFmpeg, of which a jar a system is at hand. */
final class FFmpeg {

    private FFmpeg() {}

    /**
     * Makes sure that they are loaded, and keep still: what they say on stderr quotes the file.
     *
     * @param file for whose sake
     * @throws SaccadeException of kind user, if there are none for this system
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
                    "%s: videos are read by FFmpeg, which cannot be loaded on %s: %s; add the"
                            + " artifacts org.bytedeco:ffmpeg and org.bytedeco:javacpp with the"
                            + " classifier %s, or predict on pictures of the frames, which ffmpeg -i"
                            + " FILE frames/%%06d.jpg makes",
                    file,
                    Loader.getPlatform(),
                    e.getMessage(),
                    Loader.getPlatform());
        }
    }
}
