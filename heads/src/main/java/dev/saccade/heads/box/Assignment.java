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
 * The objects assigned to the priors of an image, like mmdetection's {@code AssignResult}.
 *
 * @param gtInds {@code [N]} int64: -1 ignored, 0 background, k + 1 object k
 * @param maxOverlaps {@code [N]} float32: largest IoU with an object; 0 without objects
 */
public record Assignment(NDArray gtInds, NDArray maxOverlaps) {

    /**
     * Runs an assigner and returns its result after checks. Checks values only if that does not
     * stall a GPU.
     *
     * @throws SaccadeException of kind user that names the assigner
     */
    public static Assignment assign(Assigner assigner, Priors priors, GtInstances objects) {
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
                        "assigner %s: got %d in gtInds, expected -1 to %d, the number of objects",
                        assigner.type(), range[0] < -1 ? range[0] : range[1], objects.size());
            }
        }
        return found;
    }

    static void requireShape(String part, String name, NDArray array, DataType type, Shape shape) {
        if (array.getDataType() != type || !array.getShape().equals(shape)) {
            throw SaccadeException.user(
                    "%s: got %s of type %s and shape %s, expected %s %s, one value for each prior",
                    part, name, array.getDataType(), array.getShape(), type, shape);
        }
    }

    /** Returns whether each prior is assigned to an object, {@code [N]}. */
    public NDArray posMask() {
        return Functional.gt(gtInds, 0);
    }

    /** Returns whether each prior is background, {@code [N]}. */
    public NDArray negMask() {
        return Functional.eq(gtInds, 0);
    }

    /** Returns a copy with the objects prepended as priors, each assigned to itself. */
    public Assignment withObjects(GtInstances objects) {
        NDManager manager = gtInds.getManager();
        int k = objects.size();
        return new Assignment(
                manager.arange(1, k + 1, 1, DataType.INT64).concat(gtInds),
                manager.ones(new Shape(k)).concat(maxOverlaps));
    }
}
