package dev.saccade.heads;

import dev.saccade.core.structures.Boxes;

/**
 * What a head says of the boxes of an image before it selects among them.
 *
 * @param boxes [R] boxes for all classes, or [R * C] boxes for each, class fastest
 * @param scores {@code [R * C]} probability of each class, class fastest
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record ScoredBoxes(Boxes boxes, float[] scores) {}
