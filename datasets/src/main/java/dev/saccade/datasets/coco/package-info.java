/** Data sets in COCO's format. */
package dev.saccade.datasets.coco;
