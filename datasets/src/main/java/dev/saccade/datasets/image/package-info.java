/** Image files: headers, orientation and decoding. */
package dev.saccade.datasets.image;
