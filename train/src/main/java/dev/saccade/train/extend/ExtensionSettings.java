package dev.saccade.train.extend;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;

import java.util.Optional;

/**
 * Settings of a {@link ClassExtension}.
 *
 * @param replay maximum number of stored images of the run to train on again; 0 for none
 * @param maxDrop maximum decrease of the AP of each old class
 * @param epochs length of each training; by default, all trainings have as many optimizer steps as
 *     the run, in at most 100 epochs each
 * @param disjoint whether the stored images contain no object of a new class, so that predictions
 *     do not complete their labels
 * @param incomplete whether the new labels of old classes are incomplete, so that predictions
 *     complete them too
 */
public record ExtensionSettings(
        @Default("50") int replay,
        @Default("0.01") double maxDrop,
        Optional<Integer> epochs,
        @Default("false") boolean disjoint,
        @Default("false") boolean incomplete) {

    public ExtensionSettings {
        new Checks()
                .inRange("replay", replay, 0, 1_000_000)
                .inRange("max_drop", maxDrop, 0, 1)
                .inRange("epochs", epochs, 1, 1_000_000)
                .throwIfAny();
    }
}
