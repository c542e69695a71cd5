package dev.saccade.demo;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Something that lies on the table, described in coordinates of its own: it fits into the circle of
 * radius 1 around the origin.
 */
interface Thing {

    /** The names of the classes, in the order of their labels. */
    List<String> CLASSES = List.of("button", "coin", "key", "leaf");

    /** Returns a new thing of a class, different at every call. */
    static Thing random(int label, SplittableRandom random) {
        return switch (label) {
            case 0 -> new Button(random);
            case 1 -> new Coin(random);
            case 2 -> new Key(random);
            default -> new Leaf(random);
        };
    }

    /** Returns the distance of a point to the outline, negative inside; exact near the outline. */
    double distance(double u, double v);

    /** Returns the surface at a point inside the outline, or just beside it. */
    Surface surface(double u, double v);

    /** Returns the smallest and the largest radius, in heights of the picture. */
    Range radius();

    /** Returns how high it stands above the table, in radii; decides how far its shadow falls. */
    double thickness();
}
