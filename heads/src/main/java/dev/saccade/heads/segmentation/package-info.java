/** Heads that score the classes of every pixel. */
package dev.saccade.heads.segmentation;
