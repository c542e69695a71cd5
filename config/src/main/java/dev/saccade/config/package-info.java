/**
 * YAML files to records and back: files and their bases become one tree of {@link
 * dev.saccade.config.ConfigNode} in which every value knows where it was written; the {@link
 * dev.saccade.config.Configs} makes a record of it or says everything that is wrong with it. What
 * the keys mean is no business of this package.
 */
package dev.saccade.config;
