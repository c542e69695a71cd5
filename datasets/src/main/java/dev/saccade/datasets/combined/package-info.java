/** Data sets that join others, or evaluate them for some classes. */
package dev.saccade.datasets.combined;
