package dev.saccade.tune;

import java.util.SplittableRandom;

/** A setting, or several settings that change together, with the values to try. */
interface Dimension {

    /** Returns the name, such as {@code learning_rate} or a key of the config. */
    String name();

    /** Returns a random value. */
    Choice sample(SplittableRandom random);
}
