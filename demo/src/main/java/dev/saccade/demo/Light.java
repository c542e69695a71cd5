package dev.saccade.demo;

import java.util.SplittableRandom;

/** One soft lamp or window above the table, and the room that it lights. */
final class Light {

    private final double x;
    private final double y;
    private final double z;
    private final double halfX;
    private final double halfY;
    private final double halfZ;
    private final Color direct;
    private final Color ambient;
    private final Color lost;

    Light(SplittableRandom random) {
        double azimuth = Range.draw(random, 0, 2 * Math.PI);
        double elevation = Math.toRadians(Range.draw(random, 35, 62));
        x = Math.cos(elevation) * Math.cos(azimuth);
        y = Math.cos(elevation) * Math.sin(azimuth);
        z = Math.sin(elevation);
        double half = Math.sqrt(2 + 2 * z);
        halfX = x / half;
        halfY = y / half;
        halfZ = (z + 1) / half;
        double warmth = Range.draw(random, -0.08, 0.14);
        double share = Range.draw(random, 0.6, 0.8);
        direct = new Color(1 + warmth, 1, 1 - warmth).times(share / z);
        ambient = new Color(1 - 0.6 * warmth, 1, 1 + 0.6 * warmth).times(1 - share);
        lost = new Color(share * (1 + 0.3 * warmth), share, share * (1 - 0.3 * warmth));
    }

    /** Returns the light that a surface with the given slopes sends to the camera. */
    Color reflect(Surface surface, double slopeX, double slopeY) {
        double length = Math.sqrt(slopeX * slopeX + slopeY * slopeY + 1);
        double nx = -slopeX / length;
        double ny = -slopeY / length;
        double nz = 1 / length;
        double facing = Math.max(nx * x + ny * y + nz * z, 0);
        double highlight = Math.max(nx * halfX + ny * halfY + nz * halfZ, 0);
        double gloss = surface.gloss() == 0 ? 0 : surface.gloss() * Math.pow(highlight, 60);
        Color own = surface.color();
        double matt = 1 - surface.metal();
        double mirrored =
                matt == 1 ? 0 : surface.metal() * room(2 * nz * nx, 2 * nz * ny, 2 * nz * nz - 1);
        double sky = 0.55 + 0.45 * nz;
        return new Color(
                own.red() * (matt * (facing * direct.red() + sky * ambient.red()) + mirrored)
                        + gloss * direct.red(),
                own.green() * (matt * (facing * direct.green() + sky * ambient.green()) + mirrored)
                        + gloss * direct.green(),
                own.blue() * (matt * (facing * direct.blue() + sky * ambient.blue()) + mirrored)
                        + gloss * direct.blue());
    }

    /** Returns the share of each channel that is gone where the lamp does not reach. */
    Color lost() {
        return lost;
    }

    /** Returns how far right the shadow of a unit height falls. */
    double shadowX() {
        return -x / z;
    }

    /** Returns how far down the shadow of a unit height falls. */
    double shadowY() {
        return -y / z;
    }

    /** Returns the brightness of the room in a direction, as a metal mirrors it. */
    private double room(double dx, double dy, double dz) {
        double towards = dx * x + dy * y + dz * z;
        double ceiling = 0.3 + 0.35 * Math.max(dz, 0);
        double glow = 0.55 * Shapes.step(0.1, 0.95, towards);
        double window = 1.3 * Shapes.step(0.93, 0.985, towards);
        double horizon = 0.25 * Shapes.step(0.25, 0, Math.abs(dz - 0.1));
        return ceiling + glow + window - horizon;
    }
}
