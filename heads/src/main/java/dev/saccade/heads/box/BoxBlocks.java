package dev.saccade.heads.box;

import dev.saccade.core.structures.Boxes;

/**
 * Boxes in blocks of neighbors in a list, with the bounds of each block: most anchors are far from
 * a given object, and so are those beside them.
 */
final class BoxBlocks {

    private static final int LENGTH = 64;

    private final Boxes boxes;
    private final float[] bounds;

    BoxBlocks(Boxes boxes) {
        this.boxes = boxes;
        bounds = new float[4 * ((boxes.size() + LENGTH - 1) / LENGTH)];
        for (int i = 0; i < boxes.size(); i++) {
            int at = i / LENGTH * 4;
            boolean first = i % LENGTH == 0;
            bounds[at] = first ? boxes.x1(i) : Math.min(bounds[at], boxes.x1(i));
            bounds[at + 1] = first ? boxes.y1(i) : Math.min(bounds[at + 1], boxes.y1(i));
            bounds[at + 2] = first ? boxes.x2(i) : Math.max(bounds[at + 2], boxes.x2(i));
            bounds[at + 3] = first ? boxes.y2(i) : Math.max(bounds[at + 3], boxes.y2(i));
        }
    }

    /** Returns all boxes. */
    Boxes boxes() {
        return boxes;
    }

    /** Returns the number of blocks. */
    int size() {
        return bounds.length / 4;
    }

    /** Returns where a block starts; the block before ends there. */
    int start(int block) {
        return Math.min(block * LENGTH, boxes.size());
    }

    /** Returns whether a box of the block may share area with another box. */
    boolean mayTouch(int block, Boxes others, int i) {
        int at = 4 * block;
        // Written so that a box that is no number is looked at.
        return !(bounds[at] >= others.x2(i)
                || bounds[at + 1] >= others.y2(i)
                || bounds[at + 2] <= others.x1(i)
                || bounds[at + 3] <= others.y1(i));
    }
}
