/**
 * Labels in any format, converted to COCO's format or the layout of ADE20K.
 *
 * <p>A reader of {@code formats} reads the shapes of each image from files of {@code source}; here
 * they become objects, with the checks that all formats share, and are written.
 */
package dev.saccade.datasets.convert;
