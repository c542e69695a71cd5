package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Script;

/**
 * Indices where a mask is true. Without {@link DynamicShapes}, the number P of indices does not
 * depend on the mask, and there are also fillers: arbitrary indices with weight 0, which do not
 * change weighted sums.
 *
 * @param indices {@code [P]} int64
 * @param weights {@code [P]} float32: 1, or 0 for fillers
 */
public record Positions(NDArray indices, NDArray weights) {

    private static final Script ALL =
            Script.compile(
                    "(mask: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    every = torch.arange(torch.size(mask, 0), dtype=4, device=mask.device)
                    return (every, torch.to(mask, 6))
                    """);

    /** Writes the k-th selected index to element k, others to an extra element that is dropped. */
    private static final Script SLOTS =
            Script.compile(
                    "(first: Tensor, then: Tensor, slots: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    most = torch.size(slots, 0)
                    number = torch.sum(first)
                    behind = torch.add(torch.cumsum(then, 0), number)
                    slot = torch.sub(torch.where(first, torch.cumsum(first, 0), behind), 1)
                    taken = torch.logical_and(torch.logical_or(first, then), torch.lt(slot, most))
                    slot = torch.where(taken, slot, most)
                    every = torch.arange(torch.size(first, 0), dtype=4, device=first.device)
                    found = torch.zeros([most + 1], dtype=4, device=first.device)
                    found = torch.slice(torch.scatter(found, 0, slot, every), 0, 0, most)
                    total = torch.add(number, torch.sum(then))
                    there = torch.lt(torch.arange(most, dtype=4, device=first.device), total)
                    return (found, torch.to(there, 6))
                    """);

    /** Returns the indices where a {@code [N]} mask is true, or all indices if shapes are fixed. */
    public static Positions where(NDArray mask) {
        return DynamicShapes.areAllowedFor(mask) ? exactly(mask.nonzero()) : of(ALL.runAll(mask));
    }

    /**
     * Returns the indices where {@code first} is true, then the indices where {@code second} is.
     *
     * @param second {@code [N]} boolean like {@code first}, and disjoint from it
     * @param max maximum total number of true values; without dynamic shapes, P is min(max, N)
     */
    public static Positions concat(NDArray first, NDArray second, long max) {
        if (DynamicShapes.areAllowedFor(first)) {
            return exactly(first.nonzero().concat(second.nonzero(), 0));
        }
        Shape slots = new Shape(Math.min(max, first.size()), 0);
        return of(SLOTS.runAll(first, second, first.getManager().create(slots, DataType.FLOAT32)));
    }

    private static Positions exactly(NDArray found) {
        NDArray ones = found.getManager().ones(new Shape(found.size()));
        return new Positions(found.flatten(), ones);
    }

    private static Positions of(NDList found) {
        return new Positions(found.get(0), found.get(1));
    }

    public NDArray select(NDArray rows) {
        return Functional.indexSelect(rows, 0, indices);
    }

    public long size() {
        return indices.size();
    }
}
