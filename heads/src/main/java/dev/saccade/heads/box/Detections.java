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
 * Detections of a batch on the device, best first. The number of detections per image is known only
 * on the device; rows after the last detection have zero area, label 0 and score minus infinity.
 *
 * @param boxes {@code [B, M, 4]} float32 corners
 * @param labels {@code [B, M]} int64, from 0
 * @param scores {@code [B, M]} float32, descending
 * @param counts {@code [B]} int64 number of detections per image
 */
public record Detections(NDArray boxes, NDArray labels, NDArray scores, NDArray counts) {

    private static final int COLUMNS = 7;

    private static final Script VALID_MASK =
            Script.compile(
                    "(scores: Tensor, counts: Tensor) -> Tensor",
                    """
                    column = torch.arange(torch.size(scores, 1), dtype=4, device=counts.device)
                    return torch.lt(torch.unsqueeze(column, 0), torch.unsqueeze(counts, 1))
                    """);

    /** Reads M from the scores; with M as a constant, each value would need its own script. */
    private static final Script IMAGE_INDICES =
            Script.compile(
                    "(indices: Tensor, scores: Tensor) -> Tensor",
                    "return torch.floor_divide(indices, torch.size(scores, 1))");

    private static final Script SELECT_KEPT =
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

    /** Returns the boxes that NMS kept. */
    public static Detections of(ScoredBoxes scored, Nms.Kept kept) {
        NDArray counts = kept.counts();
        NDList found =
                SELECT_KEPT.runAll(scored.boxes(), scored.scores(), kept.positions(), counts);
        return new Detections(found.get(0), found.get(1), found.get(2), counts);
    }

    /** Returns the detections of a {@link #list}; ignores additional arrays. */
    public static Detections of(NDList list) {
        return new Detections(list.get(0), list.get(1), list.get(2), list.get(3));
    }

    public NDList list() {
        return new NDList(boxes, labels, scores, counts);
    }

    public ScoredBoxes toScoredBoxes() {
        return new ScoredBoxes(boxes, scores.expandDims(2));
    }

    public Detections mapBoxes(UnaryOperator<NDArray> change) {
        return new Detections(change.apply(boxes), labels, scores, counts);
    }

    /** Returns a copy with other scores in the same order and shape. */
    public Detections withScores(NDArray changed) {
        return new Detections(boxes, labels, changed, counts);
    }

    /** Returns whether each row holds a detection, {@code [B, M]} boolean. */
    public NDArray validMask() {
        return VALID_MASK.run(scores, counts);
    }

    /** Returns the image index of each detection, given indices into all {@code B * M} rows. */
    public NDArray imageIndices(NDArray indices) {
        return IMAGE_INDICES.run(indices, scores);
    }

    /** Returns M, the maximum number of detections per image. */
    public int maxPerImage() {
        return Math.toIntExact(scores.getShape().get(1));
    }

    /** Returns the detections of each image, in the coordinates of the original image. */
    public List<Instances> toInstances(List<ImageInfo> images) {
        ImageMetas metas = ImageMetas.of(boxes.getManager(), images);
        return mapBoxes(metas::toOriginal).toInstances();
    }

    /** Returns the detections of each image; copies to the host once. */
    public List<Instances> toInstances() {
        int most = maxPerImage();
        int images = Math.toIntExact(counts.size());
        NDList columns = new NDList(toFloats(labels), scores, toFloats(validMask()));
        // Copies a single array, because every copy to the host waits for the GPU.
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
