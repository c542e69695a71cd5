/**
 * From a loss to new weights: gradients, global-norm clipping, and the optimizers with their
 * parameter groups, each with exactly the arithmetic of PyTorch. Arrays of parameters and gradients
 * go by the dotted names of the module.
 */
package dev.saccade.train.optimizers;
