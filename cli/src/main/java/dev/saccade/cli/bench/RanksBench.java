package dev.saccade.cli.bench;

import ai.djl.Device;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.structures.Size;
import dev.saccade.train.TrialRun;
import dev.saccade.train.config.RunConfig;

import java.util.Map;

/**
 * How long several ranks take for a step of training together, beside the time that each takes for
 * one of its own at the same time: what lies between is what they wait for one another, and what
 * the reduction of the gradients costs.
 */
public final class RanksBench {

    /** The name of steps that ranks take together. */
    public static final String TOGETHER = "together";

    /** The name of steps that each rank takes for itself, all at the same time. */
    public static final String EACH_ALONE = "each alone";

    private RanksBench() {}

    /**
     * Times steps by turns; all ranks do so at the same time.
     *
     * @param images of each rank in a step
     */
    public static Map<String, Timing> measure(
            RunConfig config, int classes, int images, Size size, int runs, ProcessGroup ranks) {
        Device device = ranks.device(config.device());
        ranks.use(device);
        try (TrialRun together = new TrialRun(config, classes, device, ranks);
                TrialRun alone = new TrialRun(config, classes, device)) {
            return Timing.byTurns(
                    ImmutableMap.of(
                            TOGETHER,
                            () -> {
                                together.step(images, size);
                                ranks.barrier();
                            },
                            EACH_ALONE,
                            () -> {
                                alone.step(images, size);
                                ranks.barrier();
                            }),
                    runs);
        }
    }
}
