package dev.saccade.demo;

/** Material at a point: {@code gloss} is 0 for matte, {@code metal} is 1 for a mirror. */
record Surface(double height, Vec color, double gloss, double metal) {

    interface Texture {
        Surface at(double u, double v);
    }
}
