/** Image files to pixels: what their headers say, how they are turned upright, and decoding. */
package dev.saccade.datasets.image;
