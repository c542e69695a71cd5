package dev.saccade.train.config;

import java.util.Optional;

/**
 * When to save. The last state and the best weights are always saved.
 *
 * @param every interval of saving the state to resume from
 * @param keepEvery interval of saving permanent weights; never by default
 */
public record CheckpointConfig(Interval every, Optional<Interval> keepEvery) {}
