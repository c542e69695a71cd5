/** Label map files: PNGs whose values are class indices. */
package dev.saccade.datasets.labels;
