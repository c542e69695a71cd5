/** Data sets of labeled pixels in the layout of ADE20K. */
package dev.saccade.datasets.ade20k;
