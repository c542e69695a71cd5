package dev.saccade.core.ops.vision;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Boxes;

import java.util.List;

/**
 * Regions of interest of a batch, on the device of its features.
 *
 * @param boxes {@code [R, 4]} float32 corners in network input coordinates
 * @param images {@code [R]} integers: batch index of each region
 */
public record Rois(NDArray boxes, NDArray images) {

    private static final Script CONCAT =
            Script.compile(
                    "(boxes: List[Tensor]) -> Tuple[Tensor, Tensor]",
                    """
                    images = annotate(List[Tensor], [])
                    for n in range(torch.len(boxes)):
                      count = torch.size(boxes[n], 0)
                      image = torch.full([count], n, dtype=4, device=boxes[n].device)
                      _0 = torch.append(images, image)
                    return (torch.cat(boxes), torch.cat(images))
                    """);

    public Rois {
        checkArgument(
                boxes.getShape().get(0) == images.getShape().get(0),
                "got boxes of shape %s but images of shape %s",
                boxes.getShape(),
                images.getShape());
    }

    /** Concatenates the boxes {@code [R_n, 4]} of all images of a batch. */
    public static Rois of(List<NDArray> byImage) {
        NDList joined = CONCAT.runLists(List.of(byImage));
        return new Rois(joined.get(0), joined.get(1));
    }

    /** Transfers boxes and their batch indices to a device. */
    public static Rois of(NDManager manager, Boxes boxes, int... images) {
        return new Rois(
                Tensors.of(manager, boxes.toArray(), new Shape(boxes.size(), 4)),
                Tensors.of(manager, images, new Shape(images.length)));
    }

    public int size() {
        return Math.toIntExact(images.getShape().get(0));
    }

    /** Selects regions by int64 positions. */
    public Rois select(NDArray positions) {
        return new Rois(
                Functional.indexSelect(boxes, 0, positions),
                Functional.indexSelect(images, 0, positions));
    }
}
