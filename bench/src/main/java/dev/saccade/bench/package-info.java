/** Benchmarks of models and ranks. */
package dev.saccade.bench;
