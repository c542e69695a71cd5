package dev.saccade.tune;

import java.util.List;

/**
 * A value of a {@link Dimension}.
 *
 * @param label short text for tables
 * @param overrides settings such as {@code optimizer.learning_rate=0.01}; empty for the values of
 *     the base config
 */
record Choice(String label, List<String> overrides) {

    Choice {
        overrides = List.copyOf(overrides);
    }

    static Choice of(String label, String... overrides) {
        return new Choice(label, List.of(overrides));
    }
}
