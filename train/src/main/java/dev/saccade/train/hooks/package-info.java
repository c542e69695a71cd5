/**
 * What acts in a training run from outside of its loop: the interface of a hook, what it sees of
 * the run, and the hooks that every run has.
 */
package dev.saccade.train.hooks;
