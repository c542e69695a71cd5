/** The YAML of a run as records: every setting, its default and what values it may have. */
package dev.saccade.train.config;
