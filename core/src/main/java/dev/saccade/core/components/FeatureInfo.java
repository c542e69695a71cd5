package dev.saccade.core.components;

/** Channels and stride (input pixels per cell) of a pyramid level. */
public record FeatureInfo(int channels, int stride) {}
