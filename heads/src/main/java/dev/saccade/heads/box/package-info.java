/** Assigners, samplers, box coders and NMS. */
package dev.saccade.heads.box;
