/**
 * Metrics, as pure functions of predictions and ground truth, with their tables and result files.
 * What belongs here takes predictions in pixels of the original photograph; how they are made does
 * not.
 */
package dev.saccade.eval;
