/** Selects the images that are most useful to label next. */
package dev.saccade.report.suggest;
