/** Searches hyperparameters, and cross-validates configs. */
package dev.saccade.tune;
