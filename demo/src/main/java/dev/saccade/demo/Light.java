package dev.saccade.demo;

import static dev.saccade.demo.Shapes.between;
import static dev.saccade.demo.Shapes.step;

import java.util.SplittableRandom;

/**
 * A soft light source above the table, and ambient light.
 *
 * @param to direction to the light source
 * @param half surface normal with the strongest highlight
 * @param lost fraction of each channel missing in shadows
 */
record Light(Vec to, Vec half, Vec direct, Vec ambient, Vec lost) {

    static Light sample(SplittableRandom random) {
        double azimuth = between(random, 0, 2 * Math.PI);
        double elevation = Math.toRadians(between(random, 35, 62));
        double x = Math.cos(elevation) * Math.cos(azimuth);
        double y = Math.cos(elevation) * Math.sin(azimuth);
        double z = Math.sin(elevation);
        double half = Math.sqrt(2 + 2 * z);
        double warmth = between(random, -0.08, 0.14);
        double share = between(random, 0.6, 0.8);
        return new Light(
                new Vec(x, y, z),
                new Vec(x / half, y / half, (z + 1) / half),
                new Vec(1 + warmth, 1, 1 - warmth).times(share / z),
                new Vec(1 - 0.6 * warmth, 1, 1 + 0.6 * warmth).times(1 - share),
                new Vec(share * (1 + 0.3 * warmth), share, share * (1 - 0.3 * warmth)));
    }

    /** Returns the light reflected to the camera by a surface with these slopes. */
    Vec reflect(Surface surface, double slopeX, double slopeY) {
        double length = Math.sqrt(slopeX * slopeX + slopeY * slopeY + 1);
        Vec normal = new Vec(-slopeX / length, -slopeY / length, 1 / length);
        double facing = Math.max(normal.dot(to), 0);
        double highlight = Math.max(normal.dot(half), 0);
        double gloss = surface.gloss() == 0 ? 0 : surface.gloss() * Math.pow(highlight, 60);
        double mirrored = surface.metal() == 0 ? 0 : surface.metal() * environment(normal);
        double sky = 0.55 + 0.45 * normal.z();
        return direct.times(facing)
                .plus(ambient.times(sky))
                .times(1 - surface.metal())
                .plus(new Vec(mirrored, mirrored, mirrored))
                .times(surface.color())
                .plus(direct.times(gloss));
    }

    /** Returns the brightness of the surroundings reflected by metal. */
    private double environment(Vec normal) {
        Vec twice = normal.times(2 * normal.z());
        double dz = twice.z() - 1;
        double towards = new Vec(twice.x(), twice.y(), dz).dot(to);
        double ceiling = 0.3 + 0.35 * Math.max(dz, 0);
        double glow = 0.55 * step(0.1, 0.95, towards);
        double window = 1.3 * step(0.93, 0.985, towards);
        double horizon = 0.25 * step(0.25, 0, Math.abs(dz - 0.1));
        return ceiling + glow + window - horizon;
    }
}
