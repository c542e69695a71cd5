/** Ranks suspected label errors by the predictions of a model not trained on the images. */
package dev.saccade.eval.labelerrors;
