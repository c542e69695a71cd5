/**
 * What photographs show, drawn on them: boxes, masks, label maps, in the colours of the classes.
 */
package dev.saccade.report.draw;
