/** Checks of the data sets of a run. */
package dev.saccade.train.data;
