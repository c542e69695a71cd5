/** How a detector did on a data set. */
package dev.saccade.eval.detection;
