/** Generates the config of a training for a folder of labeled images. */
package dev.saccade.configgen;
