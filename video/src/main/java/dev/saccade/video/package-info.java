/** Reads videos frame by frame. */
package dev.saccade.video;
