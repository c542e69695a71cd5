/** What photographs show, drawn on them: boxes, masks, label maps, in the colors of the classes. */
package dev.saccade.models.draw;
