/** What was seen in the tiles of a photograph, put together. */
package dev.saccade.models.tiles;
