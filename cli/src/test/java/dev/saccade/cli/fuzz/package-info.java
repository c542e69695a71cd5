/** A seeded fuzzer of every door through which what others made comes in. */
package dev.saccade.cli.fuzz;
