package dev.saccade.djl;

import ai.djl.repository.zoo.ModelZoo;
import ai.djl.repository.zoo.ZooProvider;

/** Registers {@link SaccadeZoo} with DJL. */
public final class SaccadeZooProvider implements ZooProvider {

    @Override
    public ModelZoo getModelZoo() {
        return new SaccadeZoo();
    }
}
