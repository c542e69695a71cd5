package dev.saccade.core.parts;

/** Channels and stride (input pixels per cell) of a pyramid level. */
public record FeatureInfo(int channels, int stride) {}
