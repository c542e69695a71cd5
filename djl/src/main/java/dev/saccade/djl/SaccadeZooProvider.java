package dev.saccade.djl;

import ai.djl.repository.zoo.ModelZoo;
import ai.djl.repository.zoo.ZooProvider;

/** Tells DJL that there is a {@link SaccadeZoo}. */
public final class SaccadeZooProvider implements ZooProvider {

    @Override
    public ModelZoo getModelZoo() {
        return new SaccadeZoo();
    }
}
