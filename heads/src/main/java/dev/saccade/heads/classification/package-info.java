/** Heads that classify images. */
package dev.saccade.heads.classification;
