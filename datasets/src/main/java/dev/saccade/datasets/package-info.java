/** Labelled photographs to batches: readers, transforms, samplers and the threaded loader. */
package dev.saccade.datasets;
