package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.models.ClassificationModel;
import dev.saccade.models.ModelConfig;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Lamb;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/** Losses of the first steps of a Swin classifier: model, loss, optimizer and schedule together. */
final class FirstStepsKind implements Kind {

    private static final Tolerance LOSSES = new Tolerance(0, 0, 1e-4);

    private static final Map<String, Map<String, Double>> NO_DECAY_RULE =
            Map.of("relative_position_bias_table", Map.of("weight_decay_factor", 0.0));

    @Override
    public void run(Case recorded) {
        List<Settings> runs = recorded.settings().objects("runs");
        Schedule schedule = LrScheduleKind.timmCosine(recorded.settings().object("schedule"));
        for (int k = 0; k < runs.size(); k++) {
            Settings run = runs.get(k);
            ClassificationModel model = model(recorded, run);
            List<Double> losses = new ArrayList<>();
            int steps = recorded.array("targets").size(0);
            double base = run.number("learning_rate");
            double maxNorm = run.number("max_norm");
            try (Optimizer optimizer = optimizer(run).build(model)) {
                for (int step = 0; step < steps; step++) {
                    AtomicReference<Float> loss = new AtomicReference<>();
                    int now = step;
                    Gradients gradients =
                            Gradients.compute(
                                    () -> loss(recorded, model, now, loss),
                                    Gradients.trainable(model));
                    losses.add(loss.get().doubleValue());
                    float factor = maxNorm > 0 ? gradients.norms().clipFactor(maxNorm) : 1;
                    RunLength length = new RunLength(steps, 1);
                    optimizer.step(gradients, factor, schedule.learningRate(base, step, length));
                }
            }
            recorded.compare("losses" + k, NumpyArray.of(losses), LOSSES);
        }
    }

    private static NDArray loss(
            Case recorded, ClassificationModel model, int step, AtomicReference<Float> value) {
        NDArray targets = recorded.tensor("targets").get(step);
        int side = recorded.settings().integer("side");
        int images = Math.toIntExact(targets.getShape().get(0));
        ImageBatch batch =
                new ImageBatch(
                        recorded.manager()
                                .create(
                                        pixels(images, side, step),
                                        new Shape(images, 3, side, side)),
                        Collections.nCopies(images, ImageInfo.of(new Size(side, side))));
        NDArray loss = model.losses(batch, targets).total();
        value.set(loss.getFloat());
        return loss;
    }

    private static float[] pixels(int images, int side, int step) {
        float[] pixels = new float[images * 3 * side * side];
        for (int i = 0; i < pixels.length; i++) {
            int x = i % side;
            int y = i / side % side;
            int channel = i / side / side % 3;
            int n = i / side / side / 3;
            double angle = 0.9 * n + 1.7 * channel + 0.31 * y + 0.23 * x * (1 + n) + step;
            pixels[i] = (float) Math.sin(angle);
        }
        return pixels;
    }

    private static ClassificationModel model(Case recorded, Settings run) {
        Settings settings = recorded.settings();
        String loss =
                run.text("loss").equals("soft") ? "soft_cross_entropy" : "binary_cross_entropy";
        ModelConfig config =
                Configs.of(
                        ModelConfig.class,
                        Map.of(
                                "backbone",
                                Map.of(
                                        "type",
                                        "swin",
                                        "embed_dim",
                                        settings.integer("embed_dim"),
                                        "depths",
                                        settings.integers("depths"),
                                        "num_heads",
                                        settings.integers("num_heads"),
                                        "window_size",
                                        settings.integer("window_size"),
                                        "window_order",
                                        "shift_then_pad",
                                        "drop_path_rate",
                                        0,
                                        "out_indices",
                                        List.of(3),
                                        "output_norms",
                                        false),
                                "head",
                                Map.of(
                                        "type",
                                        "linear_cls",
                                        "norm",
                                        true,
                                        "loss",
                                        Map.of("type", loss))));
        int classes = recorded.array("targets").size(2);
        ClassificationModel model =
                new ClassificationModel(
                        config, IntStream.range(0, classes).mapToObj(i -> "class" + i).toList());
        model.initialize(recorded.manager(), 0);
        for (Map.Entry<String, Parameter> entry : model.namedParameters().entrySet()) {
            recorded.tensor("init:" + entry.getKey()).copyTo(entry.getValue().getArray());
        }
        model.train(true);
        return model;
    }

    /** Returns the optimizer; one-dimensional parameters and position biases do not decay. */
    private static Optimizer.Config optimizer(Settings run) {
        Map<String, Object> values =
                Map.of(
                        "learning_rate",
                        run.number("learning_rate"),
                        "weight_decay",
                        run.number("weight_decay"),
                        "norms",
                        Map.of("weight_decay_factor", 0),
                        "biases",
                        Map.of("weight_decay_factor", 0),
                        "rules",
                        NO_DECAY_RULE);
        return switch (run.text("optimizer")) {
            case "adamw" -> Configs.of(AdamW.Config.class, values);
            case "lamb" -> Configs.of(Lamb.Config.class, values);
            default -> throw run.unbuilt("optimizer");
        };
    }
}
