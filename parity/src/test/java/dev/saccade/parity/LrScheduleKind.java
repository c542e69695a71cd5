package dev.saccade.parity;

import dev.saccade.config.Configs;
import dev.saccade.train.schedules.ConstantSchedule;
import dev.saccade.train.schedules.CosineSchedule;
import dev.saccade.train.schedules.PolySchedule;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;
import dev.saccade.train.schedules.StepSchedule;
import dev.saccade.train.schedules.TimmCosineSchedule;
import dev.saccade.train.schedules.Warmup;

import java.util.Arrays;
import java.util.List;

/** Learning rates at recorded iterations. */
final class LrScheduleKind implements Kind {

    private static final Tolerance STATED = new Tolerance(1e-12, 0, 1e-9);

    @Override
    public void run(Case recorded) {
        List<Settings> items = recorded.settings().objects("items");
        for (int k = 0; k < items.size(); k++) {
            Settings item = items.get(k);
            item.describes("name");
            double base = item.number("base_lr");
            Settings hook = item.object("hook");
            Schedule schedule = schedule(hook, base);
            RunLength length = length(item, hook);
            double[] rates =
                    Arrays.stream(recorded.array("iters" + k).values())
                            .map(i -> schedule.learningRate(base, (long) i, length))
                            .toArray();
            recorded.compare("lr" + k, NumpyArray.of(rates), STATED);
        }
    }

    /** Returns the schedule of timm, or of an mmcv hook, by epoch unless set otherwise. */
    private static Schedule schedule(Settings hook, double base) {
        if (hook.text("policy").equals("timm_cosine")) {
            return timmCosine(hook);
        }
        Warmup warmup = warmup(hook);
        boolean byEpoch = hook.flag("by_epoch", true);
        String policy = hook.text("policy");
        if (byEpoch && !policy.equals("step") && !policy.equals("fixed")) {
            throw hook.refused("by_epoch", policy + " is built only by iteration");
        }
        return switch (policy) {
            case "fixed" -> new ConstantSchedule(warmup);
            case "step" -> {
                hook.only("min_lr", 0);
                yield new StepSchedule(hook.integers("step"), hook.number("gamma", 0.1), warmup);
            }
            case "poly" ->
                    new PolySchedule(hook.number("power", 1), hook.number("min_lr", 0), warmup);
            case "CosineAnnealing" -> new CosineSchedule(minLearningRate(hook, base), warmup);
            default -> throw hook.unbuilt("policy");
        };
    }

    static TimmCosineSchedule timmCosine(Settings settings) {
        return new TimmCosineSchedule(
                settings.integer("warmup_epochs"),
                settings.number("warmup_lr"),
                settings.number("min_lr"),
                settings.integer("cooldown_epochs"),
                settings.flag("warmup_prefix"));
    }

    private static double minLearningRate(Settings hook, double base) {
        return hook.has("min_lr_ratio")
                ? hook.number("min_lr_ratio") * base
                : hook.number("min_lr");
    }

    private static Warmup warmup(Settings hook) {
        hook.only("warmup_by_epoch", false);
        if (!hook.has("warmup")) {
            hook.describes("warmup_iters", "warmup_ratio");
            return Configs.of(Warmup.class);
        }
        hook.only("warmup", "linear");
        return new Warmup(hook.integer("warmup_iters"), hook.number("warmup_ratio", 0.1));
    }

    /** Returns the run length; without epochs, every iteration is an epoch. */
    private static RunLength length(Settings item, Settings hook) {
        if (!item.has("max_epochs")) {
            return new RunLength(item.integer("max_iters"), 1);
        }
        int perEpoch = item.integer("iters_per_epoch");
        long iterations = (long) item.integer("max_epochs") * perEpoch;
        return new RunLength(iterations, hook.flag("by_epoch", true) ? perEpoch : 1);
    }
}
