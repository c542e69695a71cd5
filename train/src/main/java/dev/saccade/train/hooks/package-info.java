/** Hooks of a training run. */
package dev.saccade.train.hooks;
