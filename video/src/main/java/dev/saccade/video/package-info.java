/** Videos, frame by frame. */
package dev.saccade.video;
