/** Attention over windows, neighborhoods, focal levels and whole maps. */
package dev.saccade.core.ops.attention;
