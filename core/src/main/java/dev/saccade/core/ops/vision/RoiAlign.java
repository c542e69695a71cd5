package dev.saccade.core.ops.vision;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Size;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * RoIAlign (He et al. 2017) with average pooling, like mmcv's operator.
 *
 * <p>The fused operator processes all levels at once and reads boxes on the device. The portable
 * version computes the weight of each cell on the host and applies {@code embedding_bag} per level,
 * which needs no array of size (regions, channels, points). Gradients flow to the features, not to
 * the boxes, and do not depend on the number of threads.
 *
 * @param output height and width in bins
 * @param samplingRatio points along each axis of a bin; 0 for about one per cell
 * @param aligned whether cells are centered at half-integers; if not, as in the first published
 *     code, regions are also at least one cell large
 */
public record RoiAlign(Size output, int samplingRatio, boolean aligned) {

    private static final ScriptTemplate POOL =
            ScriptTemplate.of(
                    "(map: Tensor, cells: Tensor, bags: Tensor, weights: Tensor) -> Tensor",
                    """
                    c = torch.size(map, 1)
                    table = torch.reshape(torch.permute(map, [0, 2, 3, 1]), [-1, c])
                    sums = torch.embedding_bag(table, cells, bags, False, 0, False, weights, False)
                    return torch.reshape(sums[0], [-1, {height}, {width}, c])
                    """);

    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(maps: List[Tensor], rois: List[Tensor]) -> Tensor",
                    """
                    size = [{height}, {width}]
                    image = torch.unsqueeze(torch.type_as(rois[1], rois[0]), 1)
                    rows = torch.cat([image, rois[0]], 1)
                    return ops.saccade.roi_align(maps, rows, rois[2], {scales}, size, {sampling_ratio}, {aligned})
                    """);

    public RoiAlign {
        checkArgument(
                output.height() > 0 && output.width() > 0,
                "output_size: got %s, expected > 0",
                output);
        checkArgument(samplingRatio >= 0, "sampling_ratio: got %s, expected >= 0", samplingRatio);
    }

    /**
     * Pools each region from one level.
     *
     * @param features maps {@code [N, C, H_l, W_l]}; only the first {@code strides.size()} are used
     * @param strides stride of each level in pixels
     * @param rois {@code [R]} regions; those outside the image give 0, and so do empty ones if
     *     {@code aligned} is true and {@code samplingRatio} is 0
     * @param levels {@code [R]} integers: level of each region
     * @return {@code [R, C, height, width]} in channels-last format, in the order of the regions
     */
    public NDArray pool(FeaturePyramid features, List<Integer> strides, Rois rois, NDArray levels) {
        return Kernels.isFusedFor(features.get(0)) || Tracer.isRecording()
                ? fused(features, strides, rois, levels)
                : portable(features, strides, rois, levels);
    }

    NDArray fused(FeaturePyramid features, List<Integer> strides, Rois rois, NDArray levels) {
        List<Double> scales = strides.stream().map(stride -> (double) (1f / stride)).toList();
        Script script =
                FUSED.with(
                        Map.of(
                                "scales", scales,
                                "height", output.height(),
                                "width", output.width(),
                                "sampling_ratio", samplingRatio,
                                "aligned", aligned));
        List<NDArray> maps = features.levels().subList(0, strides.size());
        return script.runLists(List.of(maps, List.of(rois.boxes(), rois.images(), levels)))
                .singletonOrThrow();
    }

    NDArray portable(FeaturePyramid features, List<Integer> strides, Rois rois, NDArray levels) {
        return Scope.array(
                () -> {
                    Boxes boxes = Boxes.of(Tensors.readFloats(rois.boxes()));
                    int[] images = toInts(rois.images());
                    int[] levelOf = toInts(levels);
                    NDList pooled = new NDList();
                    int[] order = new int[images.length];
                    int done = 0;
                    for (int l = 0; l < strides.size(); l++) {
                        int level = l;
                        int[] members =
                                IntStream.range(0, levelOf.length)
                                        .filter(r -> levelOf[r] == level)
                                        .toArray();
                        for (int member : members) {
                            order[member] = done++;
                        }
                        int[] imageOf = Arrays.stream(members).map(r -> images[r]).toArray();
                        Bags bags =
                                bags(
                                        features.get(l).getShape(),
                                        1f / strides.get(l),
                                        boxes.select(members),
                                        imageOf);
                        pooled.add(pool(features.get(l), bags));
                    }
                    NDArray all = Tensors.concat(pooled, 0);
                    NDArray rows = Tensors.of(all.getManager(), order, new Shape(order.length));
                    return Functional.indexSelect(all, 0, rows).transpose(0, 3, 1, 2);
                });
    }

    private static int[] toInts(NDArray integers) {
        return Tensors.readInts(integers.toType(DataType.INT32, false));
    }

    /** Returns the pooled regions of one level, {@code [R, height, width, C]}. */
    private NDArray pool(NDArray map, Bags bags) {
        NDManager manager = map.getManager();
        return POOL.with(Map.of("height", output.height(), "width", output.width()))
                .run(
                        map,
                        Tensors.of(manager, bags.cells, new Shape(bags.cells.length)),
                        Tensors.of(manager, bags.starts, new Shape(bags.starts.length)),
                        Tensors.of(manager, bags.weights, new Shape(bags.weights.length)));
    }

    private Bags bags(Shape map, float scale, Boxes boxes, int... images) {
        int height = (int) map.get(2);
        int width = (int) map.get(3);
        Bags bags = new Bags(Math.toIntExact(boxes.size() * output.area()));
        for (int r = 0; r < boxes.size(); r++) {
            BilinearSamples x = axis(boxes.x1(r), boxes.x2(r), scale, output.width(), width);
            BilinearSamples y = axis(boxes.y1(r), boxes.y2(r), scale, output.height(), height);
            int points = Math.max(1, x.perBin() * y.perBin());
            int firstCell = images[r] * height * width;
            BilinearSamples.Cells[] columns = new BilinearSamples.Cells[output.width()];
            Arrays.setAll(columns, x::cells);
            for (int bin = 0; bin < output.height(); bin++) {
                BilinearSamples.Cells rows = y.cells(bin);
                for (BilinearSamples.Cells column : columns) {
                    bags.add(rows, column, firstCell, width, points);
                }
            }
        }
        return bags.trimmed();
    }

    private BilinearSamples axis(float from, float to, float scale, int bins, int cells) {
        float offset = aligned ? 0.5f : 0;
        float start = from * scale - offset;
        float extent = to * scale - offset - start;
        return BilinearSamples.layOut(
                start, aligned ? extent : Math.max(extent, 1), bins, samplingRatio, cells);
    }

    /** The cells of all bins, one bin after the other, with their weights. */
    private static final class Bags {

        private final int[] starts;
        private int[] cells;
        private float[] weights;
        private int bins;
        private int size;

        Bags(int bins) {
            starts = new int[bins];
            cells = new int[16 * bins];
            weights = new float[16 * bins];
        }

        void add(
                BilinearSamples.Cells rows,
                BilinearSamples.Cells columns,
                int firstCell,
                int width,
                int points) {
            starts[bins++] = size;
            reserve(rows.weights().length * columns.weights().length);
            for (int i = 0; i < rows.weights().length; i++) {
                int row = firstCell + (rows.first() + i) * width + columns.first();
                for (int j = 0; j < columns.weights().length; j++) {
                    float weight = rows.weights()[i] * columns.weights()[j] / points;
                    if (weight != 0) {
                        cells[size] = row + j;
                        weights[size++] = weight;
                    }
                }
            }
        }

        private void reserve(int more) {
            if (size + more > cells.length) {
                int capacity = Math.max(size + more, 2 * cells.length);
                cells = Arrays.copyOf(cells, capacity);
                weights = Arrays.copyOf(weights, capacity);
            }
        }

        Bags trimmed() {
            cells = Arrays.copyOf(cells, size);
            weights = Arrays.copyOf(weights, size);
            return this;
        }
    }
}
