/** Checks of data sets: files, boxes, outlines, label maps and copies. */
package dev.saccade.datasets.check;
