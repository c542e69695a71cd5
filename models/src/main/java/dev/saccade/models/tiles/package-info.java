/** Merges predictions for the tiles of an image. */
package dev.saccade.models.tiles;
