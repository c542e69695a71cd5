package dev.saccade.datasets.transforms;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.Suggestions;
import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.Transform;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Named test-time augmentations of a config.
 *
 * @param tta the augmentations by name, such as {@code multi_scale: {ratios: [0.5, 1.0], flip:
 *     true}}
 * @param valTta name of the augmentation that {@code eval} uses by default; none if empty
 */
public record NamedAugmentations(
        @Default("{}") Map<String, TestTimeAugmentation> tta, Optional<String> valTta) {

    /** The name that selects no augmentation. */
    public static final String OFF = "none";

    public static final NamedAugmentations NONE =
            new NamedAugmentations(Map.of(), Optional.empty());

    public NamedAugmentations {
        tta = ImmutableMap.copyOf(tta);
        Checks.require(
                !tta.containsKey(OFF), "tta", OFF, "another name; \"none\" turns augmentation off");
        if (valTta.isPresent()) {
            String name = valTta.get();
            Checks.require(
                    tta.containsKey(name),
                    "val_tta",
                    name,
                    "a name in tta: %s%s",
                    tta.keySet(),
                    Suggestions.suggestion(name, tta.keySet()));
        }
    }

    /**
     * Checks that the augmentations fit the transforms.
     *
     * @param transforms transforms without augmentation
     * @throws IllegalArgumentException that names the augmentation that does not fit
     */
    public void requireFor(List<Transform> transforms) {
        tta.forEach(
                (name, augmentation) -> {
                    try {
                        augmentation.pipelines(transforms);
                    } catch (Checks.InvalidSettings e) {
                        throw e.below("tta." + name);
                    }
                });
    }

    /**
     * Returns an augmentation by name; empty for {@link #OFF}.
     *
     * @throws SaccadeException of kind user, if the name is unknown
     */
    public Optional<TestTimeAugmentation> named(String name) {
        if (!name.equals(OFF) && !tta.containsKey(name)) {
            throw tta.isEmpty()
                    ? SaccadeException.user(
                            "tta: got %s, but the config defines no augmentations; add one to data.tta,"
                                    + " or use scales and flip",
                            name)
                    : SaccadeException.user(
                            "tta: got %s, expected none or one of %s%s",
                            name, tta.keySet(), Suggestions.suggestion(name, tta.keySet()));
        }
        return Optional.ofNullable(tta.get(name));
    }
}
