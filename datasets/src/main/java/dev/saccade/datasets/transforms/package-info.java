/**
 * Transforms of the published recipes. Each record is a step that YAML configures, and offers its
 * deterministic operation as a public method.
 */
package dev.saccade.datasets.transforms;
