/** Semantic segmentation heads. */
package dev.saccade.heads.segmentation;
