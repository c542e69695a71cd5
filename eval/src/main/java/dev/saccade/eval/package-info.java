/** Metrics, as pure functions of predictions and ground truth, with their tables and pictures. */
package dev.saccade.eval;
