/** Lifetime and placement of native memory: scopes, inference mode, transfers and layouts. */
package dev.saccade.core.ops.memory;
