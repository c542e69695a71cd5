package dev.saccade.train.config;

import java.util.Optional;

/**
 * When to save; there is also a checkpoint at the end of a run, and the best is always kept.
 *
 * @param every how often the last state is saved, which a run resumes from
 * @param keepEvery how often weights are saved to stay; never by default
 */
public record CheckpointConfig(Interval every, Optional<Interval> keepEvery) {}
