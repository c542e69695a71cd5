package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Script;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * What the layers of a head make of one level.
 *
 * @param cls {@code [N, A * K, H, W]} logits of the classes
 * @param reg {@code [N, A * 4, H, W]} what the coder encodes
 * @param others whatever else a head has to say, {@code [N, A * columns, H, W]} each
 */
public record LevelMaps(NDArray cls, NDArray reg, List<NDArray> others) {

    private static final Script PER_ANCHOR =
            Script.compile(
                    "(map: Tensor, columns: Tensor) -> Tensor",
                    """
                    c = int(columns)
                    return torch.reshape(torch.permute(map, [0, 2, 3, 1]), [-1, c])
                    """);

    /** Keeps a copy of the list. */
    public LevelMaps {
        others = ImmutableList.copyOf(others);
    }

    /** Makes the maps of a head that says no more. */
    public LevelMaps(NDArray cls, NDArray reg) {
        this(cls, reg, List.of());
    }

    static LevelMaps of(NDList list) {
        return new LevelMaps(list.get(0), list.get(1), list.subList(2, list.size()));
    }

    NDList list() {
        return new NDList(cls, reg).addAll(new NDList(others));
    }

    Size grid() {
        Shape shape = cls.getShape();
        return new Size((int) shape.get(2), (int) shape.get(3));
    }

    LevelMaps ofImage(int n) {
        NDList one = new NDList();
        list().forEach(map -> one.add(map.get(n + ":" + (n + 1))));
        return of(one);
    }

    /** Returns the rows of a map, one an anchor: {@code [N * H * W * A, columns]}. */
    public static NDArray perAnchor(NDArray map, int columns) {
        return PER_ANCHOR.run(map, map.getManager().create(columns));
    }

    /** Returns the rows of a map that are of some anchors, {@code [P, columns]}. */
    public static NDArray perAnchor(NDArray map, int columns, int... anchors) {
        return perAnchor(map, columns)
                .get(Tensors.of(map.getManager(), anchors, new Shape(anchors.length)));
    }
}
