package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.vision.Nms;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What was found in the images of a batch, best first. How much there is in each image only the
 * device knows; what lies behind has no area, label 0 and a score of minus infinity.
 *
 * @param boxes {@code [B, M, 4]} float32 corners
 * @param labels {@code [B, M]} int64, from 0
 * @param scores {@code [B, M]} float32, descending
 * @param counts {@code [B]} int64: how many there are of each image
 */
public record Detections(NDArray boxes, NDArray labels, NDArray scores, NDArray counts) {

    private static final int COLUMNS = 7;

    private static final Script EXISTS =
            Script.compile(
                    "(scores: Tensor, counts: Tensor) -> Tensor",
                    """
                    column = torch.arange(torch.size(scores, 1), dtype=4, device=counts.device)
                    return torch.lt(torch.unsqueeze(column, 0), torch.unsqueeze(counts, 1))
                    """);

    /** The number of objects is read in the script, since it differs from image to image. */
    private static final Script IMAGES =
            Script.compile(
                    "(indices: Tensor, scores: Tensor) -> Tensor",
                    "return torch.floor_divide(indices, torch.size(scores, 1))");

    /** Boxes, labels and scores of what stays. */
    private static final Script KEPT =
            Script.compile(
                    "(boxes: Tensor, scores: Tensor, keep: Tensor, counts: Tensor)"
                            + " -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    c = torch.size(scores, 2)
                    row = keep
                    if torch.size(boxes, 1) == torch.size(scores, 1):
                      row = torch.floor_divide(keep, c)
                    column = torch.arange(torch.size(keep, 1), dtype=4, device=keep.device)
                    behind = torch.ge(torch.unsqueeze(column, 0), torch.unsqueeze(counts, 1))
                    corners = torch.expand(torch.unsqueeze(row, 2), [-1, -1, 4])
                    corners = torch.masked_fill(torch.gather(boxes, 1, corners), torch.unsqueeze(behind, 2), 0)
                    labels = torch.masked_fill(torch.remainder(keep, c), behind, 0)
                    least = torch.log(torch.zeros([], dtype=6, device=keep.device))
                    values = torch.gather(torch.flatten(scores, 1), 1, keep)
                    return (corners, labels, torch.where(behind, least, values))
                    """);

    /** Returns what stays of scored boxes. */
    public static Detections of(ScoredBoxes scored, Nms.Kept kept) {
        NDArray counts = kept.counts();
        NDList found = KEPT.runAll(scored.boxes(), scored.scores(), kept.positions(), counts);
        return new Detections(found.get(0), found.get(1), found.get(2), counts);
    }

    /** Returns what the {@link #list} of another one holds, and maybe more behind it. */
    public static Detections of(NDList list) {
        return new Detections(list.get(0), list.get(1), list.get(2), list.get(3));
    }

    /** Returns all arrays, for a {@link dev.saccade.core.ops.memory.Scope}. */
    public NDList list() {
        return new NDList(boxes, labels, scores, counts);
    }

    /** Returns the boxes with their scores, alike in class. */
    public ScoredBoxes scored() {
        return new ScoredBoxes(boxes, scores.expandDims(2));
    }

    /** Returns the same objects with other boxes, such as those in other coordinates. */
    public Detections mapBoxes(UnaryOperator<NDArray> change) {
        return new Detections(change.apply(boxes), labels, scores, counts);
    }

    /** Returns the same objects with other scores, in the same order and form. */
    public Detections withScores(NDArray changed) {
        return new Detections(boxes, labels, changed, counts);
    }

    /** Returns whether there is an object at each position, {@code [B, M]} boolean. */
    public NDArray exists() {
        return EXISTS.run(scores, counts);
    }

    /** Returns the image of each position in the {@code B * M} objects. */
    public NDArray imagesOf(NDArray indices) {
        return IMAGES.run(indices, scores);
    }

    /** Returns M, the maximum number of objects per image. */
    public int most() {
        return Math.toIntExact(scores.getShape().get(1));
    }

    /** Returns the objects of each image, in the coordinates of the original image. */
    public List<Instances> toInstances(List<ImageInfo> images) {
        ImageFrames frames = ImageFrames.of(boxes.getManager(), images);
        return mapBoxes(frames::toOriginal).toInstances();
    }

    /** Returns the objects of each image; reads once. */
    public List<Instances> toInstances() {
        int most = most();
        int images = Math.toIntExact(counts.size());
        NDList columns = new NDList(toFloats(labels), scores, toFloats(exists()));
        // One array, as each copy to the host waits for the GPU.
        float[] rows = Tensors.readFloats(boxes.concat(NDArrays.stack(columns, 2), 2));
        List<Instances> found = new ArrayList<>();
        for (int n = 0; n < images; n++) {
            int count = 0;
            while (count < most && rows[(n * most + count) * COLUMNS + 6] > 0) {
                count++;
            }
            found.add(instances(rows, n * most, count));
        }
        return ImmutableList.copyOf(found);
    }

    private static NDArray toFloats(NDArray x) {
        return x.toType(DataType.FLOAT32, false);
    }

    private static Instances instances(float[] rows, int start, int count) {
        float[] corners = new float[4 * count];
        int[] labels = new int[count];
        float[] scores = new float[count];
        for (int i = 0; i < count; i++) {
            int row = (start + i) * COLUMNS;
            System.arraycopy(rows, row, corners, 4 * i, 4);
            labels[i] = (int) rows[row + 4];
            scores[i] = rows[row + 5];
        }
        return Instances.predicted(Boxes.of(corners), labels, scores);
    }
}
