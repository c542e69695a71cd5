package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import java.util.List;
import java.util.Optional;

/** Predicts with an exported model. Images must be on a CPU. */
record ExportedModel(ModelExport.Settings settings, ExportedProgram program)
        implements AutoCloseable {

    /** Returns the inputs of the program: pixels if it normalizes, else normalized images. */
    NDList inputs(ImageBatch batch) {
        NDArray images = normalization().map(each -> each.pixels(batch)).orElse(batch.pixels());
        return settings.model() instanceof DetectionModel
                ? new NDList(images, sizes(batch))
                : new NDList(images);
    }

    /** Returns {@code [N, 2]}: width and height of each image without padding. */
    static NDArray sizes(ImageBatch batch) {
        float[] sizes = new float[2 * batch.size()];
        int at = 0;
        for (ImageInfo image : batch.images()) {
            sizes[at++] = image.size().width();
            sizes[at++] = image.size().height();
        }
        return Tensors.of(batch.pixels().getManager(), sizes, new Shape(batch.size(), 2));
    }

    /** Returns the predictions of the program. */
    @SuppressWarnings("unchecked") // a model of P predicts P
    <P> List<P> predict(Model<P> model, ImageBatch batch) {
        return (List<P>)
                model.<List<?>>match(
                        detector ->
                                detector.exportableHead()
                                        .toInstances(program.run(inputs(batch)), batch.images()),
                        segmenter -> segmenter.predict(batch, this::logits),
                        classifier -> classifier.predict(batch, this::logits));
    }

    private NDArray logits(NDArray images) {
        NDArray given = normalization().map(each -> each.pixels(images)).orElse(images);
        return program.run(new NDList(given)).get(0);
    }

    private Optional<InputNormalization> normalization() {
        return settings.normalization();
    }

    @Override
    public void close() {
        program.close();
    }
}
