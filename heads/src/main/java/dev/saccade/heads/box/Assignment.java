package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.DynamicShapes;

/**
 * What every prior of an image should learn.
 *
 * @param gtInds {@code [N]} int64: -1 not trained, 0 background, k + 1 object k
 * @param maxOverlaps {@code [N]} float32: the greatest IoU with an object; 0 without any
 */
public record Assignment(NDArray gtInds, NDArray maxOverlaps) {

    /**
     * Returns what an assigner says, see {@link Assigner#assign}. Values are looked at where that
     * costs nothing.
     *
     * @throws SaccadeException of kind user that names the assigner, if it does not say something
     *     of every prior, or speaks of objects that are not there
     */
    public static Assignment by(Assigner assigner, Priors priors, GtInstances objects) {
        Assignment found = assigner.assign(priors, objects);
        String part = "assigner " + assigner.type();
        Shape each = new Shape(priors.size());
        requireShape(part, "gtInds", found.gtInds, DataType.INT64, each);
        requireShape(part, "maxOverlaps", found.maxOverlaps, DataType.FLOAT32, each);
        if (priors.size() > 0 && DynamicShapes.areAllowedFor(found.gtInds)) {
            long[] range =
                    Tensors.readLongs(
                            NDArrays.stack(new NDList(found.gtInds.min(), found.gtInds.max())));
            if (range[0] < -1 || range[1] > objects.size()) {
                throw SaccadeException.user(
                        "assigner %s: gave %d among its gtInds, expected -1 to %d, the number of"
                                + " objects",
                        assigner.type(), range[0] < -1 ? range[0] : range[1], objects.size());
            }
        }
        return found;
    }

    static void requireShape(String part, String name, NDArray array, DataType type, Shape shape) {
        if (array.getDataType() != type || !array.getShape().equals(shape)) {
            throw SaccadeException.user(
                    "%s: gave %s of %s %s, expected %s %s, one for each prior",
                    part, name, array.getDataType(), array.getShape(), type, shape);
        }
    }

    /** Returns whether an object is assigned to each prior, {@code [N]}. */
    public NDArray positives() {
        return Functional.gt(gtInds, 0);
    }

    /** Returns whether each prior is background, {@code [N]}. */
    public NDArray negatives() {
        return Functional.eq(gtInds, 0);
    }

    /**
     * Returns this assignment with the objects, each assigned to itself, in front of the priors.
     */
    public Assignment withObjects(GtInstances objects) {
        NDManager manager = gtInds.getManager();
        int k = objects.size();
        return new Assignment(
                manager.arange(1, k + 1, 1, DataType.INT64).concat(gtInds),
                manager.ones(new Shape(k)).concat(maxOverlaps));
    }
}
