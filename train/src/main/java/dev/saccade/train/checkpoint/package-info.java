/** Run folders, locks, checkpoints, and consistency of ranks. */
package dev.saccade.train.checkpoint;
