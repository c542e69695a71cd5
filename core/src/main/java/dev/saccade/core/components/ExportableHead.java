package dev.saccade.core.components;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;

import java.util.List;

/**
 * A {@link DetectionHead} that can be exported. The shapes of its predictions do not depend on the
 * number of objects, and computing them reads no array values.
 */
public interface ExportableHead {

    /**
     * Returns the objects of each image as arrays.
     *
     * @param sizes {@code [N, 2]} float32: width and height of each image without padding
     * @return {@code [N, M, 4]} boxes in network input coordinates, {@code [N, M]} int64 labels,
     *     {@code [N, M]} descending scores and {@code [N]} int64 numbers of objects; and {@code [N,
     *     M, S, S]} mask probabilities inside the boxes, if the head {@link
     *     DetectionHead.Config#hasMasks}
     */
    NDList predictArrays(FeaturePyramid features, NDArray sizes);

    /** Converts the arrays of {@link #predictArrays} to objects in original image coordinates. */
    List<Instances> toInstances(NDList arrays, List<ImageInfo> images);
}
