package dev.saccade.train.extend;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Libtorch;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;

import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Interpolates linearly between the weights before and after training (WiSE-FT, Wortsman et al.
 * 2022). Rows of new classes in class layers keep their trained values.
 */
final class WeightInterpolation {

    private final Checkpoint trained;
    private final Checkpoint start;

    private WeightInterpolation(Checkpoint trained, Checkpoint start) {
        this.trained = trained;
        this.start = start;
    }

    /** Reads the weights of the run before, {@code old}, and of the trained model. */
    static WeightInterpolation of(Path old, Path extended) {
        Checkpoint after = Checkpoints.open(extended);
        ModelSpec spec = ModelSpec.fromMetadata(after.metadata(), extended.toString());
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            Model<?> model = spec.restore(after, extended.toString(), manager);
            Checkpoint trained = Checkpoint.of(model, after.metadata());
            // Only rows of classes in the old checkpoint are overwritten.
            model.initializeFrom(Checkpoints.open(old));
            return new WeightInterpolation(trained, Checkpoint.of(model, Map.of()));
        }
    }

    /** Returns {@code alpha} times the trained weights plus {@code 1 - alpha} times the others. */
    Checkpoint at(double alpha) {
        Map<String, Tensor> mixed = new LinkedHashMap<>();
        trained.tensors()
                .forEach(
                        (name, after) -> {
                            Tensor before = start.tensors().get(name);
                            mixed.put(
                                    name,
                                    alpha < 1 && after.type() == ElementType.FLOAT32
                                            ? mix(before, after, (float) alpha)
                                            : after);
                        });
        return trained.with(mixed);
    }

    private static Tensor mix(Tensor before, Tensor after, float alpha) {
        FloatBuffer from = before.floats();
        FloatBuffer to = after.floats();
        float[] values = new float[to.remaining()];
        for (int i = 0; i < values.length; i++) {
            values[i] = alpha * to.get() + (1 - alpha) * from.get();
        }
        return Tensor.of(after.shape(), values);
    }
}
