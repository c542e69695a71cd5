package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.util.Optional;

/** Why an object is not learned; the first reason that applies counts. */
public enum DropReason {
    /** It is of a class that is not wanted. */
    OTHER_CLASS("of classes that are not wanted"),
    /** It is a group that was not separated. */
    CROWD("crowds"),
    /** It is marked to be passed over. */
    IGNORED("marked to be ignored"),
    /** Its box has no width or no height. */
    EMPTY_BOX("without width or height"),
    /** Its box lies where its image is not. */
    OUTSIDE("outside of their images"),
    /** Its box is less than a pixel wide or high. */
    SUBPIXEL("thinner than a pixel"),
    /** Its box is one, but its area is stated as 0. */
    ZERO_AREA("stated to have an area of 0");

    private final String what;

    DropReason(String what) {
        this.what = what;
    }

    /** Returns why an object of an image is not learned; nothing if it is. */
    public static Optional<DropReason> of(Annotation object, Size image) {
        if (object.label() < 0) {
            return Optional.of(OTHER_CLASS);
        } else if (object.crowd()) {
            return Optional.of(CROWD);
        }
        return ofNonCrowd(object, image);
    }

    /** Likewise, for an object of a wanted class, as if it were no crowd. */
    static Optional<DropReason> ofNonCrowd(Annotation object, Size image) {
        Annotation.Bbox box = object.box();
        double left = Math.max(box.x(), 0);
        double top = Math.max(box.y(), 0);
        double right = Math.min(box.x() + box.width(), image.width());
        double bottom = Math.min(box.y() + box.height(), image.height());
        if (object.ignore()) {
            return Optional.of(IGNORED);
        } else if (box.width() <= 0 || box.height() <= 0) {
            return Optional.of(EMPTY_BOX);
        } else if (!(right > left && bottom > top)) {
            return Optional.of(OUTSIDE);
        } else if (box.width() < 1 || box.height() < 1) {
            return Optional.of(SUBPIXEL);
        } else if (!(object.area() > 0)) {
            return Optional.of(ZERO_AREA);
        }
        return Optional.empty();
    }

    /** Returns whether the object was meant to be learned. */
    public boolean isUnintended() {
        return compareTo(IGNORED) > 0;
    }

    /** Returns the objects of this kind in words. */
    @Override
    public String toString() {
        return what;
    }
}
