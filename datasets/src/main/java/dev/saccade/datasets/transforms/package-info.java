/**
 * The transforms of the published detection recipes. Each record is the step that YAML configures;
 * each also has its deterministic kernel as a public method, without the draws.
 */
package dev.saccade.datasets.transforms;
