/** Splits data sets into folds for cross-validation. */
package dev.saccade.datasets.folds;
