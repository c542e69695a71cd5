/** Adds classes to a trained detector. */
package dev.saccade.train.extend;
