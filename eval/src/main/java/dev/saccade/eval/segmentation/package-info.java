/** How a segmenter did on a data set. */
package dev.saccade.eval.segmentation;
