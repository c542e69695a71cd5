/**
 * Data sets, annotations, samples, transforms and check results. Readers, checks, transforms and
 * the loader are in subpackages.
 */
package dev.saccade.datasets;
