/** Evaluates the results of any tool: COCO result files and folders of label maps. */
package dev.saccade.eval.results;
