/** Gradients, clipping and optimizers. Arrays are named by dotted parameter names. */
package dev.saccade.train.optimizers;
