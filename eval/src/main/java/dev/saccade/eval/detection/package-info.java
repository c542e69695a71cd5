/** Detection metrics of a data set. */
package dev.saccade.eval.detection;
