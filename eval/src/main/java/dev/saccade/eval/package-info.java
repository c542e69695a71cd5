/** Evaluation metrics; predictions are in pixels of the original image. */
package dev.saccade.eval;
