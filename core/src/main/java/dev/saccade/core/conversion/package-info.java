/** Rules for third-party checkpoints: names, reordered, resized and computed tensors. */
package dev.saccade.core.conversion;
