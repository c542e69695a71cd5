package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * An affine map of the plane: {@code x' = xx * x + xy * y + x0} and {@code y' = yx * x + yy * y +
 * y0}.
 */
public record Affine(double xx, double xy, double x0, double yx, double yy, double y0) {

    public static Affine scaling(double factor) {
        return new Affine(factor, 0, 0, 0, factor, 0);
    }

    public static Affine translation(double x, double y) {
        return new Affine(1, 0, x, 0, 1, y);
    }

    /** Rotates from the x axis to the y axis: clockwise in images. */
    public static Affine rotation(double degrees) {
        double cos = Math.cos(Math.toRadians(degrees));
        double sin = Math.sin(Math.toRadians(degrees));
        return new Affine(cos, -sin, 0, sin, cos, 0);
    }

    /** Shears x by the tangent of one angle and y by the tangent of another. */
    public static Affine shear(double degreesX, double degreesY) {
        return new Affine(
                1, Math.tan(Math.toRadians(degreesX)), 0, Math.tan(Math.toRadians(degreesY)), 1, 0);
    }

    /** Returns the map that applies {@code first} and then this map. */
    public Affine after(Affine first) {
        return new Affine(
                xx * first.xx + xy * first.yx,
                xx * first.xy + xy * first.yy,
                x(first.x0, first.y0),
                yx * first.xx + yy * first.yx,
                yx * first.xy + yy * first.yy,
                y(first.x0, first.y0));
    }

    /** Returns the inverse map; throws if the determinant is 0. */
    public Affine inverse() {
        double determinant = xx * yy - xy * yx;
        checkArgument(determinant != 0, "%s has no inverse", this);
        double a = yy / determinant;
        double b = -xy / determinant;
        double c = -yx / determinant;
        double d = xx / determinant;
        return new Affine(a, b, -a * x0 - b * y0, c, d, -c * x0 - d * y0);
    }

    public double x(double x, double y) {
        return xx * x + xy * y + x0;
    }

    public double y(double x, double y) {
        return yx * x + yy * y + y0;
    }

    /** Returns the upright box around a box, {@code x1, y1, x2, y2}. */
    double[] bounds(double x1, double y1, double x2, double y2) {
        double left = Math.min(xx * x1, xx * x2) + Math.min(xy * y1, xy * y2) + x0;
        double right = Math.max(xx * x1, xx * x2) + Math.max(xy * y1, xy * y2) + x0;
        double top = Math.min(yx * x1, yx * x2) + Math.min(yy * y1, yy * y2) + y0;
        double bottom = Math.max(yx * x1, yx * x2) + Math.max(yy * y1, yy * y2) + y0;
        return new double[] {left, top, right, bottom};
    }
}
