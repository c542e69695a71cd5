/** The processes of a training or a measurement on several devices. */
package dev.saccade.cli.ranks;
