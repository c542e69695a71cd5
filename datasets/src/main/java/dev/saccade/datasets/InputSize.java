package dev.saccade.datasets;

import com.google.common.collect.Lists;

import dev.saccade.core.Checks;

import java.util.List;
import java.util.Optional;

/**
 * Default image size of all transforms that do not set one.
 *
 * @param imageSize two edges in pixels, such as {@code [640, 480]}, for {@code resize} without
 *     {@code scales}, {@code random_crop} with {@code mode: image_size}, and {@code
 *     random_resized_crop}, {@code resize_edge} and {@code center_crop} without sizes; width and
 *     height where the order matters
 * @param cropSize height and width in pixels, for {@code random_crop} and {@code pad} without
 *     {@code size}
 */
public record InputSize(Optional<List<Integer>> imageSize, Optional<List<Integer>> cropSize) {

    /** Maximum edge that images are resized, cropped and padded to. */
    public static final int MAX_EDGE = 1 << 15;

    private static final List<Integer> DEFAULT_CLASSIFIER_INPUT = List.of(224, 224);

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

    /** Returns height and width of the input of a classifier; 224x224 without an image size. */
    public List<Integer> classifierInput() {
        return imageSize.map(Lists::reverse).orElse(DEFAULT_CLASSIFIER_INPUT);
    }

    public List<Transform> applyTo(List<Transform> transforms) {
        return transforms.stream().map(transform -> transform.withDefaultSize(this)).toList();
    }

    /** Returns this size without the crop, which is used in training only. */
    public InputSize uncropped() {
        return new InputSize(imageSize, Optional.empty());
    }
}
