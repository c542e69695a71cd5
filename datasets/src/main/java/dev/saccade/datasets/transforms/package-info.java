/**
 * Transforms of the published recipes. Each transform is a record that YAML configures. Most have
 * public methods for their operation without randomness.
 */
package dev.saccade.datasets.transforms;
