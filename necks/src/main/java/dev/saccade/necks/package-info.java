/** Necks transform feature pyramids. */
package dev.saccade.necks;
