package dev.saccade.core.parts;

/**
 * What a level of a pyramid looks like.
 *
 * @param channels number of channels
 * @param stride input pixels a cell
 */
public record FeatureInfo(int channels, int stride) {}
