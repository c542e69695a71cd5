/** Data sets of label maps in the layout of ADE20K. */
package dev.saccade.datasets.ade20k;
