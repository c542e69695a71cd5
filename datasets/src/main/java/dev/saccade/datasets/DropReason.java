package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.util.Optional;

/** Reason why training drops an object. If several apply, the first in this order counts. */
public enum DropReason {
    OTHER_CLASS("of classes that are not selected"),
    CROWD("crowds"),
    IGNORED("marked as ignored"),
    EMPTY_BOX("without width or height"),
    OUTSIDE("outside of their images"),
    SUBPIXEL("thinner than a pixel"),
    ZERO_AREA("with a stated area of 0");

    private final String what;

    DropReason(String what) {
        this.what = what;
    }

    /** Returns why training drops an object; empty if the object is trained on. */
    public static Optional<DropReason> of(Annotation object, Size image) {
        if (object.label() < 0) {
            return Optional.of(OTHER_CLASS);
        } else if (object.crowd()) {
            return Optional.of(CROWD);
        }
        return ofNonCrowd(object, image);
    }

    /** Like {@link #of}, for an object of a selected class; ignores whether it is a crowd. */
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

    /** Returns whether dropping was probably unintended: the object was meant for training. */
    public boolean isUnintended() {
        return compareTo(IGNORED) > 0;
    }

    @Override
    public String toString() {
        return what;
    }
}
