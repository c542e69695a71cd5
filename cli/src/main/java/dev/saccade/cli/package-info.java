/** The {@code saccade} command, the demo and the run report. */
package dev.saccade.cli;
