/** Tracks detected objects from frame to frame, and counts them at lines and in zones. */
package dev.saccade.video.tracking;
