package dev.saccade.video;

import static org.bytedeco.ffmpeg.global.avcodec.AV_PKT_FLAG_KEY;
import static org.bytedeco.ffmpeg.global.avutil.AV_NOPTS_VALUE;

import dev.saccade.core.Text;

import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avutil.AVFrame;

import java.util.ArrayList;
import java.util.List;

/** Frame times: strictly increasing, even if time stamps restart or are missing. */
final class Timeline {

    private static final double MIN_GAP_SECONDS = 0.5;
    private static final int MIN_GAP_FRAMES = 3;

    /** If more than this fraction of frames follow a gap, the frame rate is variable. */
    private static final double FEW = 0.05;

    private final double secondsPerTick;
    private final long period;
    private long shift;
    private long latest = AV_NOPTS_VALUE;
    private long first = AV_NOPTS_VALUE;
    private long last = AV_NOPTS_VALUE;
    private long frames;
    private int restarts;
    private long firstRestart;
    private long estimated;
    private long corrected;
    private int gaps;
    private long gapStart;
    private long gapEnd;

    Timeline(double secondsPerTick, double framesPerSecond) {
        this.secondsPerTick = secondsPerTick;
        double seconds = framesPerSecond > 0 ? 1 / framesPerSecond : 0.04;
        period = Math.max(1, Math.round(seconds / secondsPerTick));
    }

    /**
     * Shifts time stamps that restart so that they follow all earlier packets; returns whether they
     * restart at this packet. Restarts are detected only at key frames, whose time stamps otherwise
     * exceed all earlier ones.
     */
    boolean shift(AVPacket packet) {
        long stamp = packet.pts() != AV_NOPTS_VALUE ? packet.pts() : packet.dts();
        if (stamp == AV_NOPTS_VALUE) {
            return false;
        }
        boolean isKey = (packet.flags() & AV_PKT_FLAG_KEY) != 0;
        boolean restarts = isKey && latest != AV_NOPTS_VALUE && stamp + shift <= latest - period;
        if (restarts) {
            shift = latest + period - stamp;
            if (this.restarts++ == 0) {
                firstRestart = stamp + shift;
            }
        }
        latest = latest == AV_NOPTS_VALUE ? stamp + shift : Math.max(latest, stamp + shift);
        if (packet.pts() != AV_NOPTS_VALUE) {
            packet.pts(packet.pts() + shift);
        }
        if (packet.dts() != AV_NOPTS_VALUE) {
            packet.dts(packet.dts() + shift);
        }
        return restarts;
    }

    /** Returns the time of the next frame in seconds after the first. */
    double next(AVFrame frame) {
        long stamp = frame.best_effort_timestamp();
        if (stamp == AV_NOPTS_VALUE) {
            stamp = last == AV_NOPTS_VALUE ? 0 : last + period;
            estimated++;
        } else if (last != AV_NOPTS_VALUE && stamp <= last) {
            stamp = last + 1;
            corrected++;
        }
        if (first == AV_NOPTS_VALUE) {
            first = stamp;
        } else {
            countGap(stamp);
        }
        last = stamp;
        frames++;
        return seconds(stamp);
    }

    private void countGap(long stamp) {
        long elapsed = stamp - last;
        if (elapsed * secondsPerTick > MIN_GAP_SECONDS && elapsed > MIN_GAP_FRAMES * period) {
            if (gaps++ == 0) {
                gapStart = last;
                gapEnd = stamp;
            }
        }
    }

    private double seconds(long stamp) {
        return (stamp - first) * secondsPerTick;
    }

    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (restarts > 0 && last != AV_NOPTS_VALUE) {
            notes.add(
                    Text.format(
                            "time stamps restart %s, first at %.2f s; the times of later frames"
                                    + " continue from the previous frame",
                            times(restarts), seconds(firstRestart)));
        }
        if (2 * estimated > frames) {
            notes.add(
                    Text.format(
                            "%d of %d frames have no time stamp; times are estimated from %.2f"
                                    + " frames per second",
                            estimated, frames, 1 / (period * secondsPerTick)));
        }
        if (corrected > 0) {
            notes.add(
                    Text.format(
                            "%d of %d time stamps do not increase; times are corrected",
                            corrected, frames));
        }
        if (gaps > 0 && gaps <= Math.max(1, FEW * frames)) {
            notes.add(
                    Text.format(
                            "no frames between %.2f s and %.2f s%s; parts of the file may be"
                                    + " missing",
                            seconds(gapStart),
                            seconds(gapEnd),
                            gaps > 1 ? " and in " + (gaps - 1) + " other gaps" : ""));
        }
        return notes;
    }

    private static String times(int count) {
        return count == 1 ? "once" : count + " times";
    }
}
