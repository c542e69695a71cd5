/** Readers of label formats. */
package dev.saccade.datasets.convert.formats;
