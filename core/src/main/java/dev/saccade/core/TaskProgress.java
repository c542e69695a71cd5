package dev.saccade.core;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * Progress of a long task.
 *
 * @param task such as {@code train} or {@code evaluate}
 * @param done number of finished steps
 * @param total number of all steps; -1 if unknown
 * @param unit of the steps, such as {@code images}
 * @param remaining estimated time to the end; empty until it is known
 * @param epoch current epoch of a training run, from 0
 * @param loss of the last training step
 */
public record TaskProgress(
        String task,
        long done,
        long total,
        String unit,
        Optional<Duration> remaining,
        OptionalInt epoch,
        OptionalDouble loss) {}
