/** Data sets of labelled pixels in the layout of ADE20K. */
package dev.saccade.datasets.ade20k;
