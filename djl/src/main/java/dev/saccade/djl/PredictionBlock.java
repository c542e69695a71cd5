package dev.saccade.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;

import java.util.List;

/**
 * A trained model as a DJL block: maps {@link InputArrays} of one image to the arrays of {@link
 * ResponseFormat}. Thread-safe.
 */
final class PredictionBlock<P> extends Module {

    private final ModelSpec spec;
    private final Model<P> model;
    private final ResponseFormat<P> format;

    private PredictionBlock(ModelSpec spec, Model<P> model, ResponseFormat<P> format) {
        this.spec = spec;
        this.model = add("", model);
        this.format = format;
        train(false);
    }

    static PredictionBlock<?> of(ModelSpec spec, Model<?> model, ScoreThresholds thresholds) {
        return model.<PredictionBlock<?>>match(
                detection ->
                        new PredictionBlock<>(
                                spec, detection, new DetectionResponse(thresholds, spec.classes())),
                segmentation ->
                        new PredictionBlock<>(spec, segmentation, new SegmentationResponse()),
                classification ->
                        new PredictionBlock<>(spec, classification, new ClassificationResponse()));
    }

    ModelSpec spec() {
        return spec;
    }

    ResponseFormat<P> format() {
        return format;
    }

    @Override
    public NDList call(NDList inputs) {
        return OutOfMemory.PREDICTION.call(() -> predict(inputs));
    }

    private NDList predict(NDList inputs) {
        NDManager manager = inputs.head().getManager();
        List<ImageBatch> batches = InputArrays.batches(inputs);
        Size original = batches.get(0).images().get(0).original();
        return format.arrays(
                Autocast.call(
                        spec.precision(),
                        manager.getDevice(),
                        () -> model.predictAugmented(batches)),
                original,
                manager);
    }
}
