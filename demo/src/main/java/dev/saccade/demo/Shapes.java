package dev.saccade.demo;

import java.util.SplittableRandom;

/** Signed distances to simple shapes (negative inside), and helper functions. */
final class Shapes {

    private Shapes() {}

    /** Returns the distance to a rounded rectangle around the origin. */
    static double rectangle(double u, double v, double halfWidth, double halfHeight, double round) {
        double du = Math.abs(u) - halfWidth + round;
        double dv = Math.abs(v) - halfHeight + round;
        double outside = Math.hypot(Math.max(du, 0), Math.max(dv, 0));
        return outside + Math.min(Math.max(du, dv), 0) - round;
    }

    /** Returns the distance to a star with outer and inner radius. */
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

    /** Returns a smooth step from 0 at {@code from} to 1 at {@code to}. */
    static double step(double from, double to, double value) {
        double t = clamp((value - from) / (to - from));
        return t * t * (3 - 2 * t);
    }

    static double clamp(double value) {
        return Math.min(Math.max(value, 0), 1);
    }

    static double between(SplittableRandom random, double low, double high) {
        return low + (high - low) * random.nextDouble();
    }

    /** Returns the height of a rounded edge at a signed distance from the outline. */
    static double roundEdge(double distance, double radius) {
        double fromTop = Math.max(radius + Math.min(distance, 0), 0);
        return Math.sqrt(Math.max(radius * radius - fromTop * fromTop, 0));
    }
}
