package dev.saccade.core.conversion;

/**
 * Row order of a layer with several rows per class.
 *
 * @param name names of its parameters
 * @param order row order along the first axis
 */
public record ClassRows(NamePattern name, Order order) {

    /** Row order. */
    public enum Order {
        /** All rows of a class are consecutive, such as the 4 box deltas of each class. */
        BY_CLASS,
        /** Each anchor has one row per class. */
        BY_ANCHOR
    }

    /** Describes the parameters that match a {@link NamePattern}. */
    public ClassRows(String name, Order order) {
        this(new NamePattern(name), order);
    }
}
