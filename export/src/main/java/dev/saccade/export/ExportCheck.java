package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import java.nio.file.Path;
import java.util.List;

/** Runs an exported model and compares its raw outputs before NMS with the original. */
public final class ExportCheck implements AutoCloseable {

    private final ModelExport export;
    private final ExportFormat format;
    private final Path folder;
    private final ExportedModel model;
    private final ExportedProgram maps;

    /**
     * Opens an exported model, written by {@link ModelExport#write}. Temporary files are written to
     * its folder.
     */
    public ExportCheck(ModelExport export, ExportFormat format, Path file) {
        this.export = export;
        this.format = format;
        folder = file.toAbsolutePath().getParent();
        maps = export.open(format, export.maps(), folder);
        model = new ExportedModel(export.settings(), format.open(file));
    }

    public String runtime() {
        return model.program().runtime();
    }

    /** Returns the largest allowed deviation of raw outputs at a precision. */
    public static double limit(Precision precision) {
        return switch (precision) {
            case FLOAT32 -> 1e-4;
            // Rounding changes the third digit in float16, and the second digit in bfloat16.
            case FLOAT16 -> 1e-2;
            case BFLOAT16 -> 1e-1;
        };
    }

    /**
     * Returns the largest deviation of a raw output: its largest difference from the original,
     * divided by the largest magnitude of the original. Images must be on a CPU.
     *
     * @throws SaccadeException of kind user, if the result exceeds {@code limit} (naming the
     *     layer), or if the model returns NaN
     */
    public double deviation(ImageBatch batch, double limit) {
        ModelExport.Settings settings = export.settings();
        NDArray sizes = ExportedModel.sizes(batch);
        NDList inputs = model.inputs(batch);
        String image = batch.images().get(0).file();
        double largest = 0;
        try (NDManager manager = batch.pixels().getManager().newSubManager()) {
            NDList expected =
                    Autocast.call(
                            settings.precision(),
                            manager.getDevice(),
                            () -> ModelOutputs.of(settings.model(), batch.pixels(), sizes).maps());
            expected.attach(manager);
            NDList got = maps.run(inputs);
            got.attach(manager);
            for (int i = 0; i < expected.size(); i++) {
                if (expected.get(i).isNaN().any().getBoolean()) {
                    throw SaccadeException.user(
                            "%s: the model returns NaN, so the export cannot be checked", image);
                }
                largest = Math.max(largest, deviation(expected.get(i), got.get(i)));
            }
        }
        if (largest > limit) {
            String layer =
                    new LayerSearch(export, format, folder).find(inputs, limit).orElse("not found");
            throw SaccadeException.user(
                    "%s: the export deviates by %.1e from the model, expected at most"
                            + " %.1e; first in layer: %s",
                    image, largest, limit, layer);
        }
        return largest;
    }

    /** Pads an image as the model's transforms do, if the exported model does it. */
    NDArray padded(NDArray image) {
        boolean pads = export.settings().model() instanceof DetectionModel;
        return export.settings()
                .normalization()
                .filter(normalization -> pads)
                .map(normalization -> normalization.padded(image))
                .orElse(image);
    }

    ExportedModel model() {
        return model;
    }

    /** Returns the predictions of the exported model. Images must be on a CPU. */
    public <P> List<P> predict(Model<P> original, ImageBatch batch) {
        return model.predict(original, batch);
    }

    @Override
    public void close() {
        model.close();
        maps.close();
    }

    /**
     * Returns the largest difference divided by the largest finite expected magnitude; infinite if
     * shapes or elements that are not finite differ.
     */
    static double deviation(NDArray expected, NDArray got) {
        if (!expected.getShape().equals(got.getShape())) {
            return Double.POSITIVE_INFINITY;
        }
        float[] ours = expected.toType(DataType.FLOAT32, false).toFloatArray();
        float[] theirs = got.toType(DataType.FLOAT32, false).toFloatArray();
        double largest = 0;
        double maxDifference = 0;
        for (int i = 0; i < ours.length; i++) {
            double difference = Math.abs((double) ours[i] - theirs[i]);
            if (Double.isFinite(difference)) {
                maxDifference = Math.max(maxDifference, difference);
                largest = Math.max(largest, Math.abs(ours[i]));
            } else if (Float.compare(ours[i], theirs[i]) != 0) {
                return Double.POSITIVE_INFINITY;
            }
        }
        return maxDifference == 0 ? 0 : maxDifference / largest;
    }
}
