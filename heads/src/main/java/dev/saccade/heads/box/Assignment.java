package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Script;

/**
 * What every prior of an image should learn.
 *
 * @param gtInds {@code [N]} int64: -1 not trained, 0 background, k + 1 object k
 * @param maxOverlaps {@code [N]} float32: the greatest IoU with an object; 0 without any
 */
public record Assignment(NDArray gtInds, NDArray maxOverlaps) {

    private static final Script POSITIVES =
            Script.compile("(gt_inds: Tensor) -> Tensor", "return torch.gt(gt_inds, 0)");

    private static final Script NEGATIVES =
            Script.compile("(gt_inds: Tensor) -> Tensor", "return torch.eq(gt_inds, 0)");

    private static final Script RANGE =
            Script.compile(
                    "(gt_inds: Tensor) -> Tensor",
                    """
                    least, most = torch.aminmax(gt_inds)
                    return torch.stack([least, most])
                    """);

    private static final Script WITH_OBJECTS =
            Script.compile(
                    "(gt_inds: Tensor, overlaps: Tensor, objects: Tensor)"
                            + " -> Tuple[Tensor, Tensor]",
                    """
                    k = torch.size(objects, 0)
                    own = torch.arange(1, k + 1, dtype=4, device=gt_inds.device)
                    whole = torch.ones([k], dtype=6, device=gt_inds.device)
                    return (torch.cat([own, gt_inds]), torch.cat([whole, overlaps]))
                    """);

    /**
     * Returns what an assigner says, see {@link Assigner#assign}. Values are looked at where that
     * costs nothing.
     *
     * @throws SaccadeException of kind user that names the assigner, if it does not say something
     *     of every prior, or speaks of objects that are not there
     */
    public static Assignment by(Assigner assigner, Priors priors, GtInstances objects) {
        Assignment found = assigner.assign(priors, objects);
        Shape each = new Shape(priors.size());
        requireShape(assigner, "gtInds", found.gtInds, DataType.INT64, each);
        requireShape(assigner, "maxOverlaps", found.maxOverlaps, DataType.FLOAT32, each);
        if (priors.size() > 0 && DynamicShapes.areFreeFor(found.gtInds)) {
            long[] range = Tensors.readLongs(RANGE.run(found.gtInds));
            if (range[0] < -1 || range[1] > objects.size()) {
                throw SaccadeException.user(
                        "assigner %s: gave %d among its gtInds, expected -1 to %d, the number of"
                                + " objects",
                        assigner.type(), range[0] < -1 ? range[0] : range[1], objects.size());
            }
        }
        return found;
    }

    private static void requireShape(
            Assigner assigner, String name, NDArray array, DataType type, Shape shape) {
        if (array.getDataType() != type || !array.getShape().equals(shape)) {
            throw SaccadeException.user(
                    "assigner %s: gave %s of %s %s, expected %s %s, one for each prior",
                    assigner.type(), name, array.getDataType(), array.getShape(), type, shape);
        }
    }

    /** Returns whether an object is assigned to each prior, {@code [N]}. */
    public NDArray positives() {
        return POSITIVES.run(gtInds);
    }

    /** Returns whether each prior is background, {@code [N]}. */
    public NDArray negatives() {
        return NEGATIVES.run(gtInds);
    }

    /**
     * Returns this assignment with the objects, each assigned to itself, in front of the priors.
     */
    public Assignment withObjects(GtInstances objects) {
        NDList joined = WITH_OBJECTS.runAll(gtInds, maxOverlaps, objects.boxes());
        return new Assignment(joined.get(0), joined.get(1));
    }
}
