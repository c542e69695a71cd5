/** A seeded fuzzer of every target through which what others made comes in. */
package dev.saccade.cli.fuzz;
