/**
 * Converts between YAML files and records. {@link dev.saccade.config.ConfigFile} merges files,
 * their bases and overrides into a tree with the origin of every value; {@link
 * dev.saccade.config.Configs} converts it to a record or reports all problems.
 */
package dev.saccade.config;
