/** Label maps in files: PNGs whose numbers are classes. */
package dev.saccade.datasets.labels;
