/** The {@code saccade} command. */
package dev.saccade.cli;
