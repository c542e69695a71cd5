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
 * Regions of interest in the images of a batch, on the device of its features.
 *
 * @param boxes {@code [R, 4]} float32 corners in the coordinates of the network input
 * @param images {@code [R]} integers: position in the batch of the image that each lies in
 */
public record Rois(NDArray boxes, NDArray images) {

    private static final Script JOINED =
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

    /** Checks that every box has an image. */
    public Rois {
        checkArgument(
                boxes.getShape().get(0) == images.getShape().get(0),
                "got boxes of shape %s but images of shape %s",
                boxes.getShape(),
                images.getShape());
    }

    /**
     * Returns the boxes of the images of a batch, image after image.
     *
     * @param byImage {@code [R_n, 4]} of each image, no array twice
     */
    public static Rois of(List<NDArray> byImage) {
        NDList joined = JOINED.runLists(List.of(byImage));
        return new Rois(joined.get(0), joined.get(1));
    }

    /**
     * Brings boxes that the host knows to a device.
     *
     * @param images position in the batch of the image that each lies in
     */
    public static Rois of(NDManager manager, Boxes boxes, int... images) {
        return new Rois(
                Tensors.of(manager, boxes.toArray(), new Shape(boxes.size(), 4)),
                Tensors.of(manager, images, new Shape(images.length)));
    }

    /** Returns the number of regions. */
    public int size() {
        return Math.toIntExact(images.getShape().get(0));
    }

    /**
     * Returns the regions at positions, in their order.
     *
     * @param positions {@code [P]} int64
     */
    public Rois select(NDArray positions) {
        return new Rois(
                Functional.indexSelect(boxes, 0, positions),
                Functional.indexSelect(images, 0, positions));
    }
}
