package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Converts between test values and arrays. */
public final class Rows {

    private Rows() {}

    /** Returns {@code [N, 4]} corners. */
    public static NDArray of(NDManager manager, Boxes boxes) {
        return Tensors.of(manager, boxes.toArray(), new Shape(boxes.size(), 4));
    }

    /** Returns the boxes of corners. */
    public static Boxes boxes(NDArray corners) {
        return Boxes.of(corners.toFloatArray());
    }

    /** Returns scored boxes of one image. */
    public static ScoredBoxes scored(
            NDManager manager, Boxes boxes, int numClasses, float... scores) {
        return new ScoredBoxes(
                of(manager, boxes).expandDims(0),
                Tensors.of(manager, scores, new Shape(1, scores.length / numClasses, numClasses)));
    }

    /** Returns the objects of one image. */
    public static GtInstances objects(NDManager manager, Instances objects) {
        return GtInstances.of(manager, List.of(objects)).get(0);
    }

    /** Returns an assignment without overlaps. */
    public static Assignment assignment(NDManager manager, long... gtInds) {
        Shape shape = new Shape(gtInds.length);
        return new Assignment(Tensors.of(manager, gtInds, shape), manager.zeros(shape));
    }

    /** Returns the indices where a mask is true. */
    public static int[] where(NDArray mask) {
        boolean[] values = mask.toBooleanArray();
        return IntStream.range(0, values.length).filter(i -> values[i]).toArray();
    }

    /** Returns an int32 array. */
    public static int[] ints(NDArray array) {
        return Arrays.stream(array.toLongArray()).mapToInt(Math::toIntExact).toArray();
    }
}
