package dev.saccade.parity;

import ai.djl.nn.Parameter;

import dev.saccade.config.Configs;
import dev.saccade.train.optimizers.ModelEma;

import java.util.List;
import java.util.Map;

/** Averaged weights during a recorded training. */
final class EmaKind implements Kind {

    private static final Tolerance STATED = new Tolerance(1e-6, 0, 1e-5);

    @Override
    public void run(Case recorded) {
        int steps = recorded.settings().integer("steps");
        List<Settings> averages = recorded.settings().objects("config");
        for (int k = 0; k < averages.size(); k++) {
            RecordedParameters module = RecordedParameters.of(recorded);
            ModelEma ema = config(averages.get(k)).build(module);
            for (int step = 1; step <= steps; step++) {
                module.set(recorded, "src" + step + ":");
                ema.update(step - 1).apply();
                String prefix = "ema" + k + "_" + step + ":";
                ema.swap();
                compare(recorded, prefix, module);
                ema.swap();
            }
        }
        lookAtCounters(recorded);
    }

    private static void compare(Case recorded, String prefix, RecordedParameters module) {
        for (Map.Entry<String, Parameter> entry : module.namedParameters().entrySet()) {
            recorded.compare(prefix + entry.getKey(), entry.getValue().getArray(), STATED);
        }
    }

    /** Marks batch counters as used; Saccade's batch normalization has none. */
    private static void lookAtCounters(Case recorded) {
        recorded.names("").stream().filter(RecordedParameters::isCounter).forEach(recorded::array);
    }

    /** Returns the settings for the averaged models of mmengine, mmdetection and PyTorch. */
    private static ModelEma.Config config(Settings average) {
        String type = average.text("type");
        return switch (type) {
            case "ExpMomentumEMA" -> momentum(average, average.integer("gamma", 2000));
            case "ExponentialMovingAverage" -> momentum(average, 0);
            case "StochasticWeightAverage" -> config(average, 1, 0, "update_buffers");
            case "torch_ema" -> config(average, average.number("decay", 0.999), 0, "use_buffers");
            default -> throw average.unbuilt("type");
        };
    }

    private static ModelEma.Config momentum(Settings average, int gamma) {
        return config(average, 1 - average.number("momentum", 0.0002), gamma, "update_buffers");
    }

    private static ModelEma.Config config(
            Settings average, double decay, int warmup, String buffers) {
        return Configs.of(
                ModelEma.Config.class,
                Map.of(
                        "decay",
                        decay,
                        "warmup",
                        warmup,
                        "interval",
                        average.integer("interval", 1),
                        "update_buffers",
                        average.flag(buffers, false)));
    }
}
