/** Operator benchmarks and timing. */
package dev.saccade.core.bench;
