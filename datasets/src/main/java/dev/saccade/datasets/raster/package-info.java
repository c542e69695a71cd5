/** Images with any number of channels and more than 8 bits, read as stored. */
package dev.saccade.datasets.raster;
