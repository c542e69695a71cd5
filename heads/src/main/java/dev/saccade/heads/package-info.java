/**
 * Feature pyramids to losses, in training, or to objects. A head never asks what made its pyramid.
 */
package dev.saccade.heads;
