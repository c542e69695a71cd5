package dev.saccade.video.tracking;

import dev.saccade.core.Text;
import dev.saccade.models.Box;

/** Text format of the MOTChallenge benchmarks, which evaluation tools such as TrackEval read. */
public final class MotFormat {

    private MotFormat() {}

    /**
     * Returns {@code frame,id,left,top,width,height,score,class,visibility}. Frames and classes
     * count from 1, pixels from 0; the visibility is -1, as it is unknown.
     *
     * @param frame frame index, from 0
     */
    public static String line(long frame, TrackedObject tracked) {
        Box box = tracked.object().box();
        return Text.format(
                "%d,%d,%.2f,%.2f,%.2f,%.2f,%.4f,%d,-1",
                frame + 1,
                tracked.id(),
                box.x1(),
                box.y1(),
                box.width(),
                box.height(),
                tracked.object().score(),
                tracked.object().classIndex() + 1);
    }
}
