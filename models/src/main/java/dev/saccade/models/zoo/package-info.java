/** Bundled recipes, published results and pretrained weights. */
package dev.saccade.models.zoo;
