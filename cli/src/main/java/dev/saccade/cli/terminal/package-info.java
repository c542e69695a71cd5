/** What goes to the terminal and comes from it: progress, results, signals. */
package dev.saccade.cli.terminal;
