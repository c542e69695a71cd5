package dev.saccade.heads;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import java.util.Arrays;
import java.util.List;

/**
 * The anchors of all levels of a pyramid in one list, from fine to coarse, and which of them an
 * image trains.
 */
public final class AnchorGrid {

    private final AnchorGenerator generator;
    private final ImmutableList<Size> grids;
    private final Boxes anchors;
    private final int[] starts;

    /** Lays the anchors out on levels of the given heights and widths. */
    AnchorGrid(AnchorGenerator generator, List<Size> grids) {
        this.generator = generator;
        this.grids = ImmutableList.copyOf(grids);
        starts = new int[grids.size() + 1];
        ImmutableList.Builder<Boxes> levels = ImmutableList.builder();
        for (int l = 0; l < grids.size(); l++) {
            Boxes level = generator.anchors(l, grids.get(l));
            starts[l + 1] = starts[l] + level.size();
            levels.add(level);
        }
        anchors = Boxes.concat(levels.build());
    }

    /** Returns all anchors. */
    public Boxes anchors() {
        return anchors;
    }

    /** Returns the number of levels. */
    int levels() {
        return grids.size();
    }

    /** Returns where the anchors of a level start; those of the level before end there. */
    int start(int level) {
        return starts[level];
    }

    /**
     * Says which anchors an image trains, and what.
     *
     * @param allowedBorder anchors that reach further out of the image are not trained; negative
     *     for no such limit
     * @param groundTruth the objects, boxes without area left out
     */
    Matches match(
            ImageInfo image, double allowedBorder, MaxIouAssigner assigner, Boxes groundTruth) {
        int[] trained = trained(image, allowedBorder);
        boolean all = trained.length == anchors.size();
        Boxes candidates = all ? anchors : anchors.select(trained);
        int[] assigned = assigner.assign(candidates, groundTruth, Boxes.empty()).gtIndex();
        return Matches.of(trained, assigned);
    }

    private int[] trained(ImageInfo image, double allowedBorder) {
        int[] positions = new int[anchors.size()];
        int count = 0;
        int perCell = generator.anchorsPerCell();
        for (int l = 0; l < grids.size(); l++) {
            Size grid = grids.get(l);
            Size valid = generator.validGrid(l, grid, image.padded());
            for (int y = 0; y < valid.height(); y++) {
                int first = starts[l] + y * grid.width() * perCell;
                for (int i = first; i < first + valid.width() * perCell; i++) {
                    if (allowedBorder < 0 || isInside(i, image.size(), (float) allowedBorder)) {
                        positions[count++] = i;
                    }
                }
            }
        }
        return Arrays.copyOf(positions, count);
    }

    private boolean isInside(int i, Size image, float border) {
        return anchors.x1(i) >= -border
                && anchors.y1(i) >= -border
                && anchors.x2(i) < image.width() + border
                && anchors.y2(i) < image.height() + border;
    }
}
