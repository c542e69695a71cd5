/** Files of a folder of labels: lookup by name, text and XML. */
package dev.saccade.datasets.convert.source;
