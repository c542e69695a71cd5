/** Draws predictions on images: boxes, masks and label maps in the colors of their classes. */
package dev.saccade.models.draw;
