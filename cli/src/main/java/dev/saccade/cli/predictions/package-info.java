/** What {@code predict} looks at, sees and writes. */
package dev.saccade.cli.predictions;
