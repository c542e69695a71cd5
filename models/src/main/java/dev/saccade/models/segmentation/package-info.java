/** Converts logits to label maps without holding all class scores of an image in memory. */
package dev.saccade.models.segmentation;
