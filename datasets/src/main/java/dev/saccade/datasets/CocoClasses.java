package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

/** The 80 classes of COCO, in the order of its annotation files. */
final class CocoClasses {

    static final ImmutableList<String> NAMES = ResourceLines.of("coco.txt");

    private CocoClasses() {}
}
