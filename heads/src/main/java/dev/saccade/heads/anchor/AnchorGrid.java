package dev.saccade.heads.anchor;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.Priors;

import java.util.Arrays;
import java.util.List;

/**
 * The anchors of all levels of a pyramid in one list, from fine to coarse, and which of them lie on
 * an image.
 */
public final class AnchorGrid {

    private final AnchorGenerator generator;
    private final ImmutableList<Size> grids;
    private final Boxes anchors;
    private final int[] starts;

    /** Lays the anchors out on levels of the given heights and widths. */
    public AnchorGrid(AnchorGenerator generator, List<Size> grids) {
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
    public int levels() {
        return grids.size();
    }

    /** Returns where the anchors of a level start; those of the level before end there. */
    public int start(int level) {
        return starts[level];
    }

    /**
     * Returns the anchors at some positions.
     *
     * @param positions ascending
     */
    public Priors priors(int... positions) {
        int[] perLevel = new int[levels()];
        for (int l = 0; l < perLevel.length; l++) {
            perLevel[l] = countBelow(positions, starts[l + 1]) - countBelow(positions, starts[l]);
        }
        boolean all = positions.length == anchors.size();
        return new Priors(all ? anchors : anchors.select(positions), perLevel);
    }

    /** Returns how many of some ascending positions are less than another. */
    static int countBelow(int[] positions, int bound) {
        int found = Arrays.binarySearch(positions, bound);
        return found < 0 ? -found - 1 : found;
    }

    /**
     * Returns the positions of the anchors that lie on an image, ascending.
     *
     * @param allowedBorder so many pixels may an anchor reach out of it; negative for no such limit
     */
    public int[] inside(ImageInfo image, double allowedBorder) {
        int[] positions = new int[anchors.size()];
        int count = 0;
        int perCell = generator.anchorsPerCell();
        for (int l = 0; l < grids.size(); l++) {
            Size grid = grids.get(l);
            Size valid = generator.validGrid(l, grid, image.padded());
            for (int y = 0; y < valid.height(); y++) {
                int first = starts[l] + y * grid.width() * perCell;
                for (int i = first; i < first + valid.width() * perCell; i++) {
                    if (allowedBorder < 0 || fits(i, image.size(), (float) allowedBorder)) {
                        positions[count++] = i;
                    }
                }
            }
        }
        return Arrays.copyOf(positions, count);
    }

    private boolean fits(int i, Size image, float border) {
        return anchors.x1(i) >= -border
                && anchors.y1(i) >= -border
                && anchors.x2(i) < image.width() + border
                && anchors.y2(i) < image.height() + border;
    }
}
