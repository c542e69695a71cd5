package dev.saccade.demo;

/**
 * Signed distances to simple shapes, negative inside, and the profiles that are swept along them.
 */
final class Shapes {

    private Shapes() {}

    /** Returns the distance to a disc around the origin. */
    static double disc(double u, double v, double radius) {
        return Math.hypot(u, v) - radius;
    }

    /** Returns the distance to a ring of the given mean radius and half thickness. */
    static double ring(double u, double v, double radius, double thickness) {
        return Math.abs(Math.hypot(u, v) - radius) - thickness;
    }

    /** Returns the distance to a rectangle with rounded corners around the origin. */
    static double rectangle(double u, double v, double halfWidth, double halfHeight, double round) {
        double du = Math.abs(u) - halfWidth + round;
        double dv = Math.abs(v) - halfHeight + round;
        double outside = Math.hypot(Math.max(du, 0), Math.max(dv, 0));
        return outside + Math.min(Math.max(du, dv), 0) - round;
    }

    /**
     * Returns the distance to a star around the origin whose inner corners are at {@code inner}.
     */
    static double star(double u, double v, int points, double outer, double inner) {
        double sector = Math.PI / points;
        double angle = Math.abs(Math.IEEEremainder(Math.atan2(v, u), 2 * sector));
        double radius = Math.hypot(u, v);
        double x = radius * Math.cos(angle);
        double y = radius * Math.sin(angle);
        double edgeX = inner * Math.cos(sector) - outer;
        double edgeY = inner * Math.sin(sector);
        return (-(x - outer) * edgeY + y * edgeX) / -Math.hypot(edgeX, edgeY);
    }

    /** Returns 0 below {@code from}, 1 above {@code to}, and a smooth step between. */
    static double step(double from, double to, double value) {
        double t = Math.min(Math.max((value - from) / (to - from), 0), 1);
        return t * t * (3 - 2 * t);
    }

    /**
     * Returns the height of a round edge at a distance from the outline, flat beyond its radius.
     */
    static double roundEdge(double distance, double radius) {
        double fromTop = Math.max(radius + Math.min(distance, 0), 0);
        return Math.sqrt(Math.max(radius * radius - fromTop * fromTop, 0));
    }
}
