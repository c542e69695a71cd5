/** How fast operators and models are on the machine at hand. */
package dev.saccade.cli.bench;
