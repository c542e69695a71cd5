/** Metrics of image classifiers. */
package dev.saccade.eval.classification;
