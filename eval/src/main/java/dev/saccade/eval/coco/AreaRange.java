package dev.saccade.eval.coco;

/** COCO's object sizes by area in pixels; both limits are inclusive. */
public enum AreaRange {
    /** All sizes. */
    ALL("", 0, 1e10),
    /** Up to 32 x 32 pixels. */
    SMALL("s", 0, 32 * 32),
    /** From 32 x 32 to 96 x 96 pixels. */
    MEDIUM("m", 32 * 32, 96 * 96),
    /** From 96 x 96 pixels. */
    LARGE("l", 96 * 96, 1e10);

    private final String suffix;
    private final double smallest;
    private final double largest;

    AreaRange(String suffix, double smallest, double largest) {
        this.suffix = suffix;
        this.smallest = smallest;
        this.largest = largest;
    }

    /** Returns the suffix of metric names, such as {@code s} in {@code APs}. */
    public String suffix() {
        return suffix;
    }

    /** Returns the index of this range on axis A of a {@link MetricArray}. */
    @SuppressWarnings("EnumOrdinal") // in the order of pycocotools' areaRng
    public int index() {
        return ordinal();
    }

    public boolean contains(double area) {
        return area >= smallest && area <= largest;
    }
}
