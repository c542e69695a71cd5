package dev.saccade.datasets.coco;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.ResourceLines;

/** The 80 classes of COCO, in the order of its annotation files. */
final class CocoClasses {

    static final ImmutableList<String> NAMES = ResourceLines.read(CocoClasses.class, "classes.txt");

    private CocoClasses() {}
}
