/** What is wrong with a data set, and what it looks like where something else was expected. */
package dev.saccade.datasets.check;
