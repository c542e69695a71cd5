package dev.saccade.demo;

/**
 * Material at one point of a surface.
 *
 * @param height elevation towards the camera, in the length units of its coordinates
 * @param color base color
 * @param gloss strength of the highlight, 0 for matt
 * @param metal 1 if it mirrors its surroundings, 0 if it scatters light
 */
record Surface(double height, Vec color, double gloss, double metal) {

    /** The surface at each point of a plane. */
    interface Texture {
        Surface at(double u, double v);
    }
}
