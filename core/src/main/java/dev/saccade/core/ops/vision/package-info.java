/** Operators on boxes, regions and masks, like {@code torchvision.ops}. */
package dev.saccade.core.ops.vision;
