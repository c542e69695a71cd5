package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

/** A part of an image in pixels. */
public record Window(int left, int top, int width, int height) {

    public Window {
        checkArgument(
                left >= 0 && top >= 0 && width > 0 && height > 0,
                "window: got left %s, top %s, width %s, height %s, expected a part of an image",
                left,
                top,
                width,
                height);
    }

    int right() {
        return Math.addExact(left, width);
    }

    int bottom() {
        return Math.addExact(top, height);
    }
}
