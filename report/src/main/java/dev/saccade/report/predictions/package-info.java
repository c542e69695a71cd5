/** Predictions of images and videos, as pictures and JSON. */
package dev.saccade.report.predictions;
