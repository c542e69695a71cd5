package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Decoded boxes of a batch with class scores, before selection.
 *
 * @param boxes {@code [B, R, 4]} float32 corners, or {@code [B, R * C, 4]} if class-specific, with
 *     C varying fastest
 * @param scores {@code [B, R, C]} float32 class probabilities
 */
public record ScoredBoxes(NDArray boxes, NDArray scores) {

    private static final ScriptTemplate WITHOUT_SMALL =
            ScriptTemplate.of(
                    "(boxes: Tensor, scores: Tensor) -> Tensor",
                    """
                    b = torch.unbind(boxes, 2)
                    wide = torch.gt(torch.sub(b[2], b[0]), {min_size})
                    high = torch.gt(torch.sub(b[3], b[1]), {min_size})
                    rows = torch.size(scores, 1)
                    columns = 1
                    if rows > 0:
                      columns = torch.size(boxes, 1) // rows
                    large = torch.reshape(torch.logical_and(wide, high), [torch.size(scores, 0), rows, columns])
                    return torch.where(large, scores, torch.log(torch.zeros_like(scores)))
                    """);

    /** Returns the boxes of all lists, concatenated for each image. */
    public static ScoredBoxes concat(List<ScoredBoxes> lists) {
        NDList boxes = new NDList();
        NDList scores = new NDList();
        for (ScoredBoxes list : lists) {
            boxes.add(list.boxes);
            scores.add(list.scores);
        }
        return new ScoredBoxes(Tensors.concat(boxes, 1), Tensors.concat(scores, 1));
    }

    public ScoredBoxes mapBoxes(UnaryOperator<NDArray> change) {
        return new ScoredBoxes(change.apply(boxes), scores);
    }

    /** Returns the element-wise mean of boxes and scores, such as over test-time augmentations. */
    public static ScoredBoxes mean(List<ScoredBoxes> lists) {
        if (lists.size() == 1) {
            return lists.get(0);
        }
        NDArray boxes = lists.stream().map(ScoredBoxes::boxes).reduce(NDArray::add).orElseThrow();
        NDArray scores = lists.stream().map(ScoredBoxes::scores).reduce(NDArray::add).orElseThrow();
        NDArray count = Tensors.of(boxes.getManager(), lists.size());
        return new ScoredBoxes(boxes.div(count), scores.div(count));
    }

    /** Returns a copy with score minus infinity where a side is at most {@code minSize} pixels. */
    public ScoredBoxes suppressSmall(double minSize) {
        if (minSize < 0) {
            return this;
        }
        Script script = WITHOUT_SMALL.with(Map.of("min_size", (double) (float) minSize));
        return new ScoredBoxes(boxes, script.run(boxes, scores));
    }

    public long size() {
        return scores.getShape().get(1);
    }
}
