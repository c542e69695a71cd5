package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * Size of an image after some transforms, and how much its content was enlarged.
 *
 * @param size height and width
 * @param factor new over old edge length of an object; 1 after crops
 */
public record ImageScale(Size size, double factor) {

    /** Returns the scale of an image that nothing has changed yet. */
    public static ImageScale of(Size image) {
        return new ImageScale(image, 1);
    }

    /** Returns the scale after transforms; the largest where they choose one at random. */
    public ImageScale after(List<Transform> transforms) {
        ImageScale scale = this;
        for (Transform transform : transforms) {
            scale = transform.scale(scale);
        }
        return scale;
    }

    /** Returns the scale after resizing. */
    public ImageScale resized(Size target) {
        double change = Math.sqrt((double) target.area() / size.area());
        return new ImageScale(target, factor * change);
    }
}
