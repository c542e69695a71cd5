package dev.saccade.core.parts;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;

import java.util.List;

/**
 * A {@link DetectionHead} that can be exported: its predictions are arrays whose sizes do not
 * depend on the number of objects, and no value is read on the way.
 */
public interface ExportableHead {

    /**
     * Returns the objects of each image as arrays.
     *
     * @param features the pyramid of the batch
     * @param sizes {@code [N, 2]} float32: width and height of each image without its padding
     * @return {@code [N, M, 4]} boxes in the coordinates of the network input, {@code [N, M]} int64
     *     labels, {@code [N, M]} scores in descending order and {@code [N]} int64 numbers of
     *     objects; {@code [N, M, S, S]} mask probabilities inside the boxes, if the head {@link
     *     DetectionHead.Config#hasMasks}
     */
    NDList predictArrays(FeaturePyramid features, NDArray sizes);

    /**
     * Converts the arrays of {@link #predictArrays} to objects in the coordinates of the original
     * images.
     */
    List<Instances> toInstances(NDList arrays, List<ImageInfo> images);
}
