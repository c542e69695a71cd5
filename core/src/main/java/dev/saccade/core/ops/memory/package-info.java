/** Lifetime and placement of native memory: scopes, no-grad mode, transfers and memory formats. */
package dev.saccade.core.ops.memory;
