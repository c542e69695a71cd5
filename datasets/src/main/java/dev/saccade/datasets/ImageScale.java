package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.util.List;

/** Size of an image and scale factor of its objects after transforms; crops keep the factor. */
public record ImageScale(Size size, double factor) {

    public static ImageScale of(Size image) {
        return new ImageScale(image, 1);
    }

    /** Returns the scale after transforms; the largest possible scale if random. */
    public ImageScale after(List<Transform> transforms) {
        ImageScale scale = this;
        for (Transform transform : transforms) {
            scale = transform.scale(scale);
        }
        return scale;
    }

    public ImageScale resized(Size target) {
        double change = Math.sqrt((double) target.area() / size.area());
        return new ImageScale(target, factor * change);
    }
}
