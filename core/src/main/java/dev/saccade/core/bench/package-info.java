/** Benchmarks of operators, and timing. */
package dev.saccade.core.bench;
