package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Images of noise, the same in every process: in each an object of class 1 for detectors, and for
 * segmenters the strongest of the three channels at every pixel, which some detectors learn, too.
 */
record NoiseScene(ImageBatch batch, Size size) {

    NoiseScene(NDManager manager, int images, Size size) {
        this(
                new ImageBatch(
                        WeightInit.normal(1)
                                .create(
                                        manager,
                                        new Shape(images, 3, size.height(), size.width()),
                                        new SplittableRandom(0)),
                        Collections.nCopies(images, ImageInfo.of(size))),
                size);
    }

    private Losses losses(Model<?> model) {
        return model.match(
                detector ->
                        detector.losses(
                                batch, Collections.nCopies(batch.size(), object()), strongest()),
                segmenter -> segmenter.losses(batch, strongest()),
                classifier -> classifier.losses(batch, labels(classifier.classes().size())));
    }

    /** Labels image i with class i. */
    private NDArray labels(int classes) {
        return batch.pixels().getManager().eye(batch.size(), classes, 0, DataType.FLOAT32);
    }

    private NDArray strongest() {
        return batch.pixels().argMax(1);
    }

    /** Returns an object whose center is not at the same distance from several anchors. */
    private Instances object() {
        return Instances.groundTruth(Boxes.of(8.1f, 8.2f, 48.4f, 40.5f), 1)
                .withMasks(List.of(Rle.fromBox(size, 8, 8, 40, 32)));
    }

    /**
     * Returns the gradients of the loss.
     *
     * @param heard receives the loss
     */
    Gradients gradients(Model<?> model, Optimizer optimizer, Consumer<Float> heard) {
        return sampled(
                () ->
                        Gradients.compute(
                                () -> {
                                    var total = losses(model).total();
                                    heard.accept(total.getFloat());
                                    return total;
                                },
                                optimizer.parameters()));
    }

    /** Returns the loss. */
    float loss(Model<?> model) {
        return sampled(() -> NoGrad.call(() -> losses(model).total().getFloat()));
    }

    private <T> T sampled(Supplier<T> body) {
        return SampleRandom.call(0, 0, LongStream.range(0, batch.size()).toArray(), body);
    }
}
