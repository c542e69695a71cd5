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
 * @param outputs outputs that the exported model returns
 * @param maps feature maps and raw outputs of the head (or its RPN) before NMS, or logits of other
 *     models; compared instead of detections, which rounding may reorder
 */
record ModelOutputs(NDList outputs, NDList maps) {

    /**
     * Runs a model without gradients.
     *
     * @param images {@code [N, 3, H, W]}
     * @param sizes {@code [N, 2]}, for detectors
     */
    static ModelOutputs of(Model<?> model, NDArray images, NDArray sizes) {
        return NoGrad.call(
                () ->
                        model.match(
                                detector -> of(detector, images, sizes),
                                segmenter -> of(new NDList(segmenter.logits(images))),
                                classifier -> of(new NDList(classifier.logits(images)))));
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
