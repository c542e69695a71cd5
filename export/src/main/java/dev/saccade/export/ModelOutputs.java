package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

/**
 * Outputs of a model.
 *
 * @param outputs what whoever runs it gets
 * @param maps what the selection of objects starts from: the levels of the pyramid, and what the
 *     head, or its region proposal network, says of them. Whoever compares two programs looks at
 *     these, since selected objects change places by rounding. The logits of a segmenter
 */
record ModelOutputs(NDList outputs, NDList maps) {

    /**
     * Returns what a model computes, without gradients.
     *
     * @param images {@code [N, 3, H, W]}
     * @param sizes {@code [N, 2]}, for detectors
     */
    static ModelOutputs of(Model<?> model, NDArray images, NDArray sizes) {
        return NoGrad.call(
                () ->
                        model.match(
                                detector -> of(detector, images, sizes),
                                segmenter -> of(new NDList(segmenter.logits(images)))));
    }

    private static ModelOutputs of(NDList logits) {
        return new ModelOutputs(logits, logits);
    }

    private static ModelOutputs of(DetectionModel detector, NDArray images, NDArray sizes) {
        FeaturePyramid pyramid = detector.features(images);
        NDList maps = new NDList(pyramid.levels());
        maps.addAll(detector.head().call(maps));
        return new ModelOutputs(detector.exportableHead().predictArrays(pyramid, sizes), maps);
    }
}
