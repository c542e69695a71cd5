/** Data sets with a class per image. */
package dev.saccade.datasets.classification;
