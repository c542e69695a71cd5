package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.Priors;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** All anchors of a feature pyramid in one list, finest level first. */
public final class AnchorGrid {

    private final AnchorGenerator generator;
    private final ImmutableList<Size> grids;
    private final ImmutableList<NDArray> levels;
    private final NDArray anchors;
    private final int[] perLevel;

    /** Anchors inside an image; {@code positions} are {@code [M]} ascending int64 indices. */
    public record Inside(NDArray positions, Priors priors) {}

    /** Creates the anchors of levels with the given heights and widths. */
    public AnchorGrid(NDManager manager, AnchorGenerator generator, List<Size> grids) {
        this.generator = generator;
        this.grids = ImmutableList.copyOf(grids);
        perLevel = new int[grids.size()];
        ImmutableList.Builder<NDArray> all = ImmutableList.builder();
        NDArray base = generator.baseAnchors(manager);
        for (int l = 0; l < perLevel.length; l++) {
            NDArray level = generator.anchors(base.get(l), l, grids);
            perLevel[l] = Math.toIntExact(level.getShape().get(0));
            all.add(level);
        }
        levels = all.build();
        anchors = Tensors.concat(new NDList(levels), 0);
    }

    /** Returns all anchors, {@code [N, 4]}. */
    public NDArray anchors() {
        return anchors;
    }

    /** Returns the anchors of a level, {@code [H * W * A, 4]}. */
    public NDArray anchors(int level) {
        return levels.get(level);
    }

    public int levels() {
        return perLevel.length;
    }

    /** Splits an array by level; {@code axis} is the axis of the anchors. */
    NDList split(NDArray perAnchor, int axis) {
        return Priors.split(perAnchor, axis, perLevel);
    }

    public Priors priors() {
        return new Priors(anchors, perLevel);
    }

    /**
     * Returns the anchors in {@link AnchorGenerator#validGrid} that extend at most {@code
     * allowedBorder} pixels beyond an image, at the right and bottom less; negative: no limit.
     * Empty if these are all anchors.
     */
    public Optional<Inside> inside(ImageInfo image, double allowedBorder) {
        NDList positions = new NDList();
        int[] counts = new int[perLevel.length];
        int start = 0;
        for (int l = 0; l < perLevel.length; l++) {
            Size valid = generator.validGrid(l, grids.get(l), image.padded());
            NDArray ofLevel =
                    allowedBorder < 0
                            ? validPositions(l, valid, start)
                            : insidePositions(
                                    l, valid, start, new Border(image, (float) allowedBorder));
            counts[l] = Math.toIntExact(ofLevel.size());
            positions.add(ofLevel);
            start += perLevel[l];
        }
        if (Arrays.equals(counts, perLevel)) {
            return Optional.empty();
        }
        NDArray all = Tensors.concat(positions, 0);
        return Optional.of(new Inside(all, new Priors(anchors.get(all), counts)));
    }

    private NDArray validPositions(int level, Size valid, int start) {
        Size grid = grids.get(level);
        return anchors.getManager()
                .arange(start, start + perLevel[level], 1, DataType.INT64)
                .reshape(grid.height(), grid.width(), -1)
                .get(new NDIndex("0:{}, 0:{}", valid.height(), valid.width()))
                .flatten();
    }

    private record Border(ImageInfo image, float pixels) {

        boolean contains(Boxes cell, int i, int left, int top) {
            return cell.x1(i) + left >= -pixels
                    && cell.y1(i) + top >= -pixels
                    && cell.x2(i) + left < image.size().width() + pixels
                    && cell.y2(i) + top < image.size().height() + pixels;
        }
    }

    /** Computes positions on the host; an array whose size depends on values stalls a GPU. */
    private NDArray insidePositions(int level, Size valid, int start, Border border) {
        Boxes cell = generator.baseAnchors(level);
        Size strides = generator.strides(level, grids);
        int width = grids.get(level).width();
        List<Long> fitting = new ArrayList<>();
        for (int y = 0; y < valid.height(); y++) {
            for (int x = 0; x < valid.width(); x++) {
                for (int i = 0; i < cell.size(); i++) {
                    if (border.contains(cell, i, x * strides.width(), y * strides.height())) {
                        fitting.add(start + ((long) y * width + x) * cell.size() + i);
                    }
                }
            }
        }
        long[] positions = fitting.stream().mapToLong(position -> position).toArray();
        return Tensors.of(anchors.getManager(), positions, new Shape(positions.length));
    }
}
