package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Script;

/**
 * The positions where a mask holds. Where {@link DynamicShapes} are free these are exactly they;
 * elsewhere there are so many as there can be, and fillers among them weigh nothing. So whoever
 * sums over them weighs by the weights, and gets the same either way.
 *
 * @param indices {@code [P]} int64; of fillers those of any position
 * @param weights {@code [P]} float32: 1, or 0 for a filler
 */
public record Positions(NDArray indices, NDArray weights) {

    private static final Script ALL =
            Script.compile(
                    "(mask: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    every = torch.arange(torch.size(mask, 0), dtype=4, device=mask.device)
                    return (every, torch.to(mask, 6))
                    """);

    /**
     * Every position goes to the slot that counts those before it; behind all slots is one more.
     */
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

    /**
     * Returns where a mask holds, ascending; where shapes are fixed, all positions.
     *
     * @param mask {@code [N]} boolean
     */
    public static Positions where(NDArray mask) {
        return DynamicShapes.areAllowedFor(mask) ? exactly(mask.nonzero()) : of(ALL.runAll(mask));
    }

    /**
     * Returns where a mask holds, and then where another holds, each ascending; where shapes are
     * fixed, in so many slots as there can be positions.
     *
     * @param first {@code [N]} boolean
     * @param then {@code [N]} boolean, of other positions
     * @param most both together hold at most so often
     */
    public static Positions inTurn(NDArray first, NDArray then, long most) {
        if (DynamicShapes.areAllowedFor(first)) {
            return exactly(first.nonzero().concat(then.nonzero(), 0));
        }
        Shape slots = new Shape(Math.min(most, first.size()), 0);
        return of(SLOTS.runAll(first, then, first.getManager().create(slots, DataType.FLOAT32)));
    }

    private static Positions exactly(NDArray found) {
        NDArray ones = found.getManager().ones(new Shape(found.size()));
        return new Positions(found.flatten(), ones);
    }

    private static Positions of(NDList found) {
        return new Positions(found.get(0), found.get(1));
    }

    /** Returns the rows of an array at these positions, in their order. */
    public NDArray select(NDArray rows) {
        return Functional.indexSelect(rows, 0, indices);
    }

    /** Returns P. */
    public long size() {
        return indices.size();
    }
}
