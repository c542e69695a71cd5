package dev.saccade.core.conversion;

/** Row order along the first axis of a layer with several rows per class. */
public record ClassRows(NamePattern name, Order order) {

    public enum Order {
        /** All rows of a class are consecutive, such as the 4 box deltas of each class. */
        BY_CLASS,
        /** All rows of an anchor are consecutive, one per class. */
        BY_ANCHOR
    }

    public ClassRows(String name, Order order) {
        this(new NamePattern(name), order);
    }
}
