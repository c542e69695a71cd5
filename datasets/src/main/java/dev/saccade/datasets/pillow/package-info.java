/** Transforms for classification that give exactly the pixels of Pillow, torchvision and timm. */
package dev.saccade.datasets.pillow;
