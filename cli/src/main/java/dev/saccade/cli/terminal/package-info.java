/** Terminal input and output: progress, results and signals. */
package dev.saccade.cli.terminal;
