/** Images to feature pyramids: one file per model family, variants are data. */
package dev.saccade.backbones;
