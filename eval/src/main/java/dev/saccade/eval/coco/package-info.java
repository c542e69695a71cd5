/** COCO's average precision and recall of boxes and masks, and COCO result files. */
package dev.saccade.eval.coco;
