package dev.saccade.demo;

/**
 * What a surface is made of at one point.
 *
 * @param height how far it rises towards the camera, in the length units of its coordinates
 * @param color its own color
 * @param gloss strength of the highlight, 0 for matt
 * @param metal 1 if it mirrors its surroundings in its own color, 0 if it scatters light
 */
record Surface(double height, Color color, double gloss, double metal) {}
