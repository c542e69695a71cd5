/** The training loop and what hangs on it. */
package dev.saccade.train;
