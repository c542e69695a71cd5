package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.Positions;

import java.util.List;
import java.util.Map;

/**
 * What the layers of a head make of one level.
 *
 * @param cls {@code [N, A * K, H, W]} logits of the classes
 * @param reg {@code [N, A * 4, H, W]} what the coder encodes
 * @param others whatever else a head has to say, {@code [N, A * columns, H, W]} each
 */
public record LevelMaps(NDArray cls, NDArray reg, List<NDArray> others) {

    private static final ScriptTemplate PER_ANCHOR =
            ScriptTemplate.of(
                    "(map: Tensor) -> Tensor",
                    "return torch.reshape(torch.permute(map, [0, 2, 3, 1]), [-1, {columns}])");

    private static final Script ROWS =
            Script.compile(
                    "(rows: Tensor, indices: Tensor) -> Tensor",
                    "return torch.index_select(rows, 0, indices)");

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

    /** Returns all maps, float32 whatever the layers compute in. */
    NDList list() {
        NDList maps = new NDList(cls, reg).addAll(new NDList(others));
        maps.replaceAll(Tensors::toFloat32);
        return maps;
    }

    Size grid() {
        Shape shape = cls.getShape();
        return new Size((int) shape.get(2), (int) shape.get(3));
    }

    /** Returns the rows of a map, one an anchor: {@code [N * H * W * A, columns]}. */
    public static NDArray perAnchor(NDArray map, int columns) {
        return PER_ANCHOR.with(Map.of("columns", columns)).run(map);
    }

    /** Returns the rows of a map that are of some anchors, {@code [P, columns]}. */
    public static NDArray perAnchor(NDArray map, int columns, Positions anchors) {
        return ROWS.run(perAnchor(map, columns), anchors.indices());
    }
}
