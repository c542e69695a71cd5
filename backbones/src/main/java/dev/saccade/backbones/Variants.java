package dev.saccade.backbones;

import dev.saccade.core.Checks;

import java.util.Map;

/** Looks up the published members of a family. */
final class Variants {

    private Variants() {}

    /** Returns the member of a name. */
    static <T> T get(Map<String, T> variants, String name) {
        T variant = variants.get(name);
        Checks.require(variant != null, "variant", name, "one of %s", variants.keySet());
        return variant;
    }
}
