/** Samples to batches: samplers, the order of an epoch, and threads that read ahead. */
package dev.saccade.datasets.loader;
