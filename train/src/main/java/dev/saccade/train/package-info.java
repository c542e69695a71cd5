/** The training loop. */
package dev.saccade.train;
