/** COCO's average precision and recall of boxes and masks, and its files of results. */
package dev.saccade.eval.coco;
