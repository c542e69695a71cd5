package dev.saccade.backbones;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Map;

/** Looks up the published members of a family. */
final class Variants {

    private Variants() {}

    /** Returns the member of a name. */
    static <T> T get(Map<String, T> variants, String name) {
        T variant = variants.get(name);
        checkArgument(
                variant != null, "variant: got %s, expected one of %s", name, variants.keySet());
        return variant;
    }
}
