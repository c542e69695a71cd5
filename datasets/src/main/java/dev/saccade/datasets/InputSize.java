package dev.saccade.datasets;

import dev.saccade.core.Checks;

import java.util.List;
import java.util.Optional;

/**
 * How large photographs are for a model: said once, for all transforms that state no size of their
 * own.
 *
 * @param imageSize two edges in pixels, such as {@code [640, 480]}: the pair that a {@code resize}
 *     without {@code scales} takes
 * @param cropSize height and width in pixels: what a {@code random_crop} without {@code size} cuts
 *     out, and what a {@code pad} without one fills up to
 */
public record InputSize(Optional<List<Integer>> imageSize, Optional<List<Integer>> cropSize) {

    /** The longest edge that photographs are scaled, cut and padded to. */
    public static final int MAX_EDGE = 1 << 15;

    /** Checks the edges. */
    public InputSize {
        imageSize = imageSize.map(List::copyOf);
        cropSize = cropSize.map(List::copyOf);
        Checks checks = new Checks();
        imageSize.ifPresent(pair -> check(checks, "image_size", pair));
        cropSize.ifPresent(pair -> check(checks, "crop_size", pair));
        checks.throwIfAny();
    }

    private static void check(Checks checks, String key, List<Integer> pair) {
        checks.size(key, pair, 2, 2).each(key, pair, 1, MAX_EDGE);
    }

    /** Returns transforms, each at its own size or else at this one. */
    public List<Transform> applyTo(List<Transform> transforms) {
        return transforms.stream().map(transform -> transform.withDefaultSize(this)).toList();
    }

    /** Returns the same size of photographs without crops, which are made in training alone. */
    public InputSize uncropped() {
        return new InputSize(imageSize, Optional.empty());
    }
}
