/** Backbones: one file per family, variants as sets of defaults. */
package dev.saccade.backbones;
