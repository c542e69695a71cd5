/** Data sets of labelled objects in the format of COCO. */
package dev.saccade.datasets.coco;
