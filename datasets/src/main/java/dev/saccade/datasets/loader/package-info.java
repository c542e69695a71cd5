/** Samplers, batches, and data loading on threads. */
package dev.saccade.datasets.loader;
