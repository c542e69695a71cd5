package dev.saccade.datasets.transforms;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.Suggestions;
import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;
import dev.saccade.datasets.Transform;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Test-time augmentations by name.
 *
 * @param views the augmentations, such as {@code multi_scale: {ratios: [0.5, 1.0], flip: true}}
 * @param valViews the name of the augmentation that {@code eval} uses by default; a single view if
 *     empty
 */
public record NamedAugmentations(
        @Default("{}") Map<String, TestTimeAugmentation> views, Optional<String> valViews) {

    /** The name that stands for a single view. */
    public static final String SINGLE = "none";

    /** No augmentations. */
    public static final NamedAugmentations NONE =
            new NamedAugmentations(Map.of(), Optional.empty());

    /** Checks the names. */
    public NamedAugmentations {
        views = ImmutableMap.copyOf(views);
        Checks.require(
                !views.containsKey(SINGLE), "views", SINGLE, "another name; none is a single view");
        if (valViews.isPresent()) {
            String name = valViews.get();
            Checks.require(
                    views.containsKey(name),
                    "val_views",
                    name,
                    "a name in views: %s%s",
                    views.keySet(),
                    Suggestions.suggestion(name, views.keySet()));
        }
    }

    /**
     * Checks that all views can be created.
     *
     * @param transforms transforms of a single view
     * @throws IllegalArgumentException that names the augmentation that cannot be created
     */
    public void requireFor(List<Transform> transforms) {
        views.forEach(
                (name, augmentation) -> {
                    try {
                        augmentation.views(transforms);
                    } catch (Checks.InvalidSettings e) {
                        throw e.below("views." + name);
                    }
                });
    }

    /**
     * Returns an augmentation by name; empty for {@link #SINGLE}.
     *
     * @throws SaccadeException of kind user, if there is no such name
     */
    public Optional<TestTimeAugmentation> named(String name) {
        if (!name.equals(SINGLE) && !views.containsKey(name)) {
            throw views.isEmpty()
                    ? SaccadeException.user(
                            "views: got %s, but the config names no views; add them to data.views,"
                                    + " or use scales and flip instead",
                            name)
                    : SaccadeException.user(
                            "views: got %s, expected none or one of %s%s",
                            name, views.keySet(), Suggestions.suggestion(name, views.keySet()));
        }
        return Optional.ofNullable(views.get(name));
    }
}
