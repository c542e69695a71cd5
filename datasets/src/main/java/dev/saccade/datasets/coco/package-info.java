/** Data sets of labeled objects in the format of COCO. */
package dev.saccade.datasets.coco;
