package dev.saccade.bench;

import ai.djl.Device;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.Text;
import dev.saccade.core.bench.Timing;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.train.TrialRun;
import dev.saccade.train.config.RunConfig;

import java.util.Map;

/**
 * Times of training steps on several ranks. Running together instead of alone adds the cost of
 * waiting and all-reduce.
 *
 * @param images per rank
 */
public record RanksBench(
        String name, int ranks, int images, String input, int classes, Map<String, Timing> times) {

    private static final String TOGETHER = "together";
    private static final String EACH_ALONE = "each alone";

    /**
     * Times steps in turn, together and each rank alone. All ranks must call this together; rank 0
     * shows the progress.
     */
    public static RanksBench run(
            RunConfig config,
            ModelBench.Input input,
            int runs,
            ProcessGroup ranks,
            ProgressBar.Factory bars) {
        if (ranks.rank() > 0) {
            return run(config, input, runs, ranks, () -> {});
        }
        int steps = 2 * (1 + runs);
        try (ProgressBar progress = bars.open("benchmark ranks", steps, " steps")) {
            return run(config, input, runs, ranks, progress::step);
        }
    }

    private static RanksBench run(
            RunConfig config,
            ModelBench.Input input,
            int runs,
            ProcessGroup ranks,
            Runnable onStep) {
        Device device = ranks.device(config.device());
        ranks.use(device);
        try (TrialRun together = new TrialRun(config, input.classes(), device, ranks);
                TrialRun alone = new TrialRun(config, input.classes(), device)) {
            Map<String, Timing> times =
                    Timing.inTurn(
                            ImmutableMap.of(
                                    TOGETHER, () -> step(together, input, ranks),
                                    EACH_ALONE, () -> step(alone, input, ranks)),
                            runs,
                            onStep);
            return new RanksBench(
                    input.name(),
                    ranks.worldSize(),
                    input.images(),
                    input.size().toString(),
                    input.classes(),
                    times);
        }
    }

    private static void step(TrialRun run, ModelBench.Input input, ProcessGroup ranks) {
        run.step(input.images(), input.size());
        ranks.barrier();
    }

    @Override
    public String toString() {
        double difference = times.get(TOGETHER).median() - times.get(EACH_ALONE).median();
        return Printable.format(
                        "%s, %d ranks, %d x %s each, %s%n",
                        name, ranks, images, input, Count.of(classes, "class"))
                + Timing.lines(times)
                + Text.format("  communication  %.3f s (difference of the medians)", difference);
    }
}
