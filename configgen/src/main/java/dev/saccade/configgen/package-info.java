/** Generates training configs for folders of labeled images. */
package dev.saccade.configgen;
