/**
 * Labels in the formats of others, read into one form and written in those of COCO and ADE20K.
 *
 * <p>A file for each format reads its files and says what is drawn on which photograph; all that
 * holds for any format, such as boxes that stick out, is done once for all of them.
 */
package dev.saccade.datasets.convert;
