/** Records for the YAML of a run. */
package dev.saccade.train.config;
