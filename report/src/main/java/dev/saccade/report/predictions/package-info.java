/** Predictions for images, videos and lists of images, as pictures and JSON. */
package dev.saccade.report.predictions;
