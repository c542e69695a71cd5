/**
 * Converts labels in any format to COCO's format or the layout of ADE20K.
 *
 * <p>A reader in the subpackage {@code formats} parses the shapes of each image; this package
 * converts them to objects, checks them in the same way for all formats, and writes them.
 */
package dev.saccade.datasets.convert;
