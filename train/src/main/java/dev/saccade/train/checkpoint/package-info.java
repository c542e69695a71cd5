/** Run folders, locks, checkpoints, and agreement between ranks. */
package dev.saccade.train.checkpoint;
