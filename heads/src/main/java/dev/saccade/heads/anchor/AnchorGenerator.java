package dev.saccade.heads.anchor;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Generates anchors in mmdetection's order: cells row by row; in each cell by ratio, then scale, or
 * the reverse.
 *
 * <p>With sizes in pixels ({@link #ofSizes}), anchors equal those of torchvision's {@code
 * AnchorGenerator}: corners are rounded to integers, and the stride of a level is the padded image
 * size divided by the size of the map, rounded down.
 */
public final class AnchorGenerator {

    private static final int MAX_PER_CELL = 256;
    private static final long MAX_ANCHORS = 100_000_000;

    /**
     * Builds one row of cells, then all rows, to keep the inner loops long. Fitted strides are
     * computed from tensors, so that exported models accept images of any size.
     */
    private static final ScriptTemplate ANCHORS =
            ScriptTemplate.of(
                    "(base: Tensor, cells: Tensor, finest: Tensor) -> Tensor",
                    """
                    x = torch.arange(torch.size(cells, 1), dtype=6, device=base.device)
                    y = torch.arange(torch.size(cells, 0), dtype=6, device=base.device)
                    if {fitted}:
                      finest_x = torch.arange(torch.size(finest, 1), dtype=6, device=base.device)
                      finest_y = torch.arange(torch.size(finest, 0), dtype=6, device=base.device)
                      columns = torch.sum(torch.ones_like(x), [0])
                      rows = torch.sum(torch.ones_like(y), [0])
                      width = torch.mul(torch.sum(torch.ones_like(finest_x), [0]), {finest_stride})
                      height = torch.mul(torch.sum(torch.ones_like(finest_y), [0]), {finest_stride})
                      x = torch.mul(x, torch.floor(torch.div(width, columns)))
                      y = torch.mul(y, torch.floor(torch.div(height, rows)))
                    else:
                      x = torch.mul(x, {stride})
                      y = torch.mul(y, {stride})
                    none = torch.zeros_like(x)
                    shift = torch.unsqueeze(torch.stack([x, none, x, none], 1), 1)
                    row = torch.reshape(torch.add(torch.unsqueeze(base, 0), shift), [1, -1])
                    one = torch.ones_like(x)
                    moves = torch.unsqueeze(torch.stack([none, one, none, one], 1), 1)
                    moves = torch.expand(moves, [-1, torch.size(base, 0), -1])
                    y = torch.unsqueeze(y, 1)
                    all = torch.addcmul(row, y, torch.reshape(moves, [1, -1]))
                    return torch.reshape(all, [-1, 4])
                    """);

    private final ImmutableList<Integer> strides;
    private final ImmutableList<Boxes> base;
    private final boolean fitted;

    private AnchorGenerator(List<Integer> strides, List<Boxes> base, boolean fitted) {
        this.strides = ImmutableList.copyOf(strides);
        this.base = ImmutableList.copyOf(base);
        this.fitted = fitted;
    }

    /** Rejects more than 256 anchors per cell, to limit memory; published models use at most 9. */
    public static void check(String key, int scales, int ratios) {
        Checks.require(
                scales * ratios <= MAX_PER_CELL,
                key,
                ratios + " values",
                "at most %s anchors per cell; with %s scales, these ratios result in %s",
                MAX_PER_CELL,
                scales,
                scales * ratios);
    }

    /**
     * Creates the base anchors of every level.
     *
     * @param scales anchor sizes in strides
     * @param ratios height / width
     * @param scaleMajor whether all scales of a ratio are consecutive
     * @param centerOffset anchor center offset within a cell, in strides
     * @param strides stride of each level in pixels; also the size of anchors with scale 1
     */
    public AnchorGenerator(
            List<Double> scales,
            List<Double> ratios,
            boolean scaleMajor,
            double centerOffset,
            List<Integer> strides) {
        this(
                strides,
                strides.stream()
                        .map(
                                stride ->
                                        baseAnchors(
                                                scales, ratios, scaleMajor, centerOffset, stride))
                        .toList(),
                false);
    }

    /**
     * Creates torchvision's anchors.
     *
     * @param sizes anchor sizes of each level in pixels, the same number for each
     */
    public static AnchorGenerator ofSizes(
            List<List<Integer>> sizes,
            List<Double> ratios,
            boolean scaleMajor,
            List<Integer> strides) {
        Checks.require(
                sizes.size() == strides.size(),
                "anchor_sizes",
                sizes.size() + " lists",
                "one list for each of the %s levels",
                strides.size());
        List<Boxes> base = new ArrayList<>();
        for (List<Integer> level : sizes) {
            List<Double> scales = level.stream().map(Integer::doubleValue).toList();
            float[] corners = baseAnchors(scales, ratios, scaleMajor, 0, 1).toArray();
            for (int i = 0; i < corners.length; i++) {
                corners[i] = (float) Math.rint(corners[i]);
            }
            base.add(Boxes.of(corners));
        }
        return new AnchorGenerator(strides, base, true);
    }

    /** Returns RetinaNet's scales {@code base * 2^(i / perOctave)}, in strides. */
    public static List<Double> octaveScales(double base, int perOctave) {
        ImmutableList.Builder<Double> scales = ImmutableList.builder();
        for (int i = 0; i < perOctave; i++) {
            scales.add(base * Math.pow(2, (double) i / perOctave));
        }
        return scales.build();
    }

    private static Boxes baseAnchors(
            List<Double> scales,
            List<Double> ratios,
            boolean scaleMajor,
            double centerOffset,
            int size) {
        checkArgument(
                !scales.isEmpty() && !ratios.isEmpty(),
                "scales, ratios: got an empty list, expected at least one value each");
        float center = (float) (centerOffset * size);
        float[] boxes = new float[4 * ratios.size() * scales.size()];
        int count = ratios.size() * scales.size();
        int inner = scaleMajor ? scales.size() : ratios.size();
        for (int i = 0; i < count; i++) {
            float ratio = ratios.get(scaleMajor ? i / inner : i % inner).floatValue();
            float scale = scales.get(scaleMajor ? i % inner : i / inner).floatValue();
            float heightRatio = (float) Math.sqrt(ratio);
            float widthRatio = 1 / heightRatio;
            // Multiplies in mmdetection's order to get the same rounding.
            float width = scaleMajor ? size * widthRatio * scale : size * scale * widthRatio;
            float height = scaleMajor ? size * heightRatio * scale : size * scale * heightRatio;
            boxes[4 * i] = center - 0.5f * width;
            boxes[4 * i + 1] = center - 0.5f * height;
            boxes[4 * i + 2] = center + 0.5f * width;
            boxes[4 * i + 3] = center + 0.5f * height;
        }
        return Boxes.of(boxes);
    }

    public int levels() {
        return base.size();
    }

    int stride(int level) {
        return strides.get(level);
    }

    /**
     * Returns the distances between the cells of a level.
     *
     * @param grids heights and widths of all levels
     */
    Size strides(int level, List<Size> grids) {
        int stride = strides.get(level);
        if (!fitted) {
            return new Size(stride, stride);
        }
        Size finest = grids.get(0);
        Size grid = grids.get(level);
        return new Size(
                finest.height() * strides.get(0) / grid.height(),
                finest.width() * strides.get(0) / grid.width());
    }

    /** Returns whether the distances between cells equal the strides of the features. */
    boolean hasFeatureStrides(List<Size> grids) {
        return IntStream.range(0, levels())
                .allMatch(l -> strides(l, grids).equals(new Size(stride(l), stride(l))));
    }

    public int anchorsPerCell() {
        return base.get(0).size();
    }

    /** Returns the A anchors of the first cell of a level. */
    public Boxes baseAnchors(int level) {
        return base.get(level);
    }

    /**
     * Returns the anchors of a level from its {@code [A, 4]} base anchors, as {@code [H * W * A,
     * 4]} float32 corners.
     *
     * @param grids heights and widths of all levels
     * @throws SaccadeException of kind user if there are too many anchors
     */
    public NDArray anchors(NDArray base, int level, List<Size> grids) {
        Size grid = grids.get(level);
        long count = grid.area() * anchorsPerCell();
        if (count > MAX_ANCHORS) {
            throw SaccadeException.user(
                    "got %d anchors on a map of %s cells, expected at most %d million; use"
                            + " smaller images",
                    count, grid, MAX_ANCHORS / 1_000_000);
        }
        Map<String, Object> constants =
                Map.of(
                        "stride", strides.get(level),
                        "fitted", fitted,
                        "finest_stride", strides.get(0));
        NDManager manager = base.getManager();
        return ANCHORS.with(constants)
                .run(base, cells(manager, grid), cells(manager, grids.get(0)));
    }

    private static NDArray cells(NDManager manager, Size grid) {
        return manager.create(new Shape(grid.height(), grid.width(), 0));
    }

    /** Returns the anchors of the first cell of every level, {@code [L, A, 4]} corners. */
    public NDArray baseAnchors(NDManager manager) {
        float[] corners = Boxes.concat(base).toArray();
        return Tensors.of(manager, corners, new Shape(levels(), anchorsPerCell(), 4));
    }

    /**
     * Returns the height and width, in cells, of the part of a level that covers a padded image;
     * training ignores all other cells. torchvision also trains the cells outside of smaller images
     * of a batch.
     */
    public Size validGrid(int level, Size grid, Size padded) {
        if (fitted) {
            return grid;
        }
        int stride = strides.get(level);
        return new Size(
                Math.min((padded.height() + stride - 1) / stride, grid.height()),
                Math.min((padded.width() + stride - 1) / stride, grid.width()));
    }
}
