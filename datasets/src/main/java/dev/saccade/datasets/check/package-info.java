/** Checks of data sets: files, boxes, outlines, label maps and duplicates. */
package dev.saccade.datasets.check;
