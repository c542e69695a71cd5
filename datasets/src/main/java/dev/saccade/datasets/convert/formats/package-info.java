/** The formats of labels that can be converted, with a reader for each. */
package dev.saccade.datasets.convert.formats;
