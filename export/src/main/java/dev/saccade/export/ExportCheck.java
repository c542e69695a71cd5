package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Compares an exported model with its original on images: the maps before objects are selected, and
 * the predictions.
 */
public final class ExportCheck implements AutoCloseable {

    private final ModelExport export;
    private final ExportFormat format;
    private final Path folder;
    private final ExportedProgram program;
    private final ExportedProgram maps;

    /**
     * Opens an exported model.
     *
     * @param file as {@link ModelExport#write} has written it
     * @param format what it is written in
     */
    public ExportCheck(ModelExport export, ExportFormat format, Path file) {
        this.export = export;
        this.format = format;
        try {
            folder = Files.createTempDirectory("saccade-export");
        } catch (IOException e) {
            throw SaccadeException.io(e, "no folder for files that are needed for a while");
        }
        ExportedProgram opened = null;
        try {
            opened = format.open(file);
            export.write(format, export.maps(), temporary());
            maps = format.open(temporary());
        } catch (RuntimeException e) {
            if (opened != null) {
                opened.close();
            }
            deleteTemporary();
            throw e;
        }
        program = opened;
    }

    private Path temporary() {
        return folder.resolve("model" + format.suffix());
    }

    /** Returns what runs the exported model, and its version. */
    public String runtime() {
        return program.runtime();
    }

    /** Returns the deviation from which an export is faulty, of what computes in a precision. */
    public static double limit(Precision precision) {
        return switch (precision) {
            case FLOAT32 -> 1e-4;
            // Some roundings to three and to two digits.
            case FLOAT16 -> 1e-2;
            case BFLOAT16 -> 1e-1;
        };
    }

    /**
     * Returns the largest deviation of what is computed before objects are selected, or of logits:
     * the largest difference of an array over its largest magnitude.
     *
     * @param batch images on a CPU
     * @throws SaccadeException of kind user that names the layer, if it is above a limit
     */
    public double deviation(ImageBatch batch, double limit) {
        Model<?> model = export.settings().model();
        NDArray sizes = sizes(batch);
        NDList inputs = new NDList(given(batch));
        if (model instanceof DetectionModel) {
            inputs.add(sizes);
        }
        double largest = 0;
        try (NDManager manager = batch.pixels().getManager().newSubManager()) {
            NDList expected =
                    Autocast.call(
                            export.settings().precision(),
                            manager.getDevice(),
                            () -> ModelOutputs.of(model, batch.pixels(), sizes).maps());
            expected.attach(manager);
            NDList got = maps.run(inputs);
            got.attach(manager);
            for (int i = 0; i < expected.size(); i++) {
                if (hasNaN(expected.get(i))) {
                    throw SaccadeException.user(
                            "%s: the model computes what is no number (NaN), which nothing can be"
                                    + " held against",
                            batch.images().get(0).file());
                }
                largest = Math.max(largest, deviation(expected.get(i), got.get(i)));
            }
        }
        if (largest > limit) {
            String where =
                    new LayerSearch(export, format, folder.resolve("part" + format.suffix()))
                            .first(inputs, limit)
                            .orElse("none alone");
            throw SaccadeException.user(
                    "%s: deviates by %.1e from the model, at most %.1e expected; first in layer: %s",
                    batch.images().get(0).file(), largest, limit, where);
        }
        return largest;
    }

    /** Returns {@code [N, 2]}: width and height of each image without its padding. */
    private static NDArray sizes(ImageBatch batch) {
        float[] sizes = new float[2 * batch.size()];
        int at = 0;
        for (ImageInfo image : batch.images()) {
            sizes[at++] = image.size().width();
            sizes[at++] = image.size().height();
        }
        return Tensors.of(batch.pixels().getManager(), sizes, new Shape(batch.size(), 2));
    }

    /**
     * Returns what is predicted for each image where the exported model computes.
     *
     * @param model that it was made of
     * @param batch images on a CPU
     */
    @SuppressWarnings("unchecked") // what a model of P predicts
    public <P> List<P> predict(Model<P> model, ImageBatch batch) {
        return (List<P>)
                model.<List<?>>match(
                        detector -> {
                            NDList inputs = new NDList(given(batch), sizes(batch));
                            return detector.exportableHead()
                                    .toInstances(program.run(inputs), batch.images());
                        },
                        segmenter -> segmenter.predict(batch, this::logits));
    }

    /** Returns the images that the exported model is given. */
    private NDArray given(ImageBatch batch) {
        return normalization().map(each -> each.pixels(batch)).orElse(batch.pixels());
    }

    private NDArray logits(NDArray images) {
        NDArray given = normalization().map(each -> each.pixels(images)).orElse(images);
        return program.run(new NDList(given)).get(0);
    }

    private Optional<InputNormalization> normalization() {
        return export.settings().normalization();
    }

    @Override
    public void close() {
        program.close();
        maps.close();
        deleteTemporary();
    }

    private void deleteTemporary() {
        try {
            Files.deleteIfExists(temporary());
            Files.deleteIfExists(folder.resolve("part" + format.suffix()));
            Files.deleteIfExists(folder);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted", folder);
        }
    }

    /** Returns whether any element is NaN. */
    private static boolean hasNaN(NDArray array) {
        for (float value : array.toType(DataType.FLOAT32, false).toFloatArray()) {
            if (Float.isNaN(value)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the largest difference of two elements over the largest magnitude of what is
     * expected; infinite, if shapes differ, or one has a number where the other has none.
     */
    static double deviation(NDArray expected, NDArray got) {
        if (!expected.getShape().equals(got.getShape())) {
            return Double.POSITIVE_INFINITY;
        }
        float[] ours = expected.toType(DataType.FLOAT32, false).toFloatArray();
        float[] theirs = got.toType(DataType.FLOAT32, false).toFloatArray();
        double largest = 0;
        double apart = 0;
        for (int i = 0; i < ours.length; i++) {
            if (Float.compare(ours[i], theirs[i]) == 0) {
                // Both may be infinite.
                continue;
            }
            double difference = Math.abs((double) ours[i] - theirs[i]);
            if (!Double.isFinite(difference)) {
                return Double.POSITIVE_INFINITY;
            }
            apart = Math.max(apart, difference);
        }
        for (float value : ours) {
            largest = Float.isFinite(value) ? Math.max(largest, Math.abs(value)) : largest;
        }
        return apart == 0 ? 0 : apart / largest;
    }
}
