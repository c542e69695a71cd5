package dev.saccade.demo;

import java.util.SplittableRandom;

/** A coin: a metal disc with a raised rim, an inscription around it and a device in the middle. */
final class Coin implements Thing {

    private final Color metal;
    private final Color tarnish;
    private final Noise noise;
    private final int device;
    private final int points;
    private final double wear;
    private final boolean beads;

    Coin(SplittableRandom random) {
        metal = Color.pick(random, 0xE6C068, 0xD8D4CC, 0xC9835A, 0xDDB257, 0xC6C8CC, 0xB87448);
        tarnish = metal.mix(Color.pick(random, 0x4A3A22, 0x38342C, 0x4C5A44), 0.75);
        noise = new Noise(random);
        device = random.nextInt(3);
        points = 5 + random.nextInt(4);
        wear = Range.draw(random, 0.15, 0.6);
        beads = random.nextBoolean();
    }

    @Override
    public double distance(double u, double v) {
        return Shapes.disc(u, v, 1);
    }

    @Override
    public Surface surface(double u, double v) {
        double radius = Math.hypot(u, v);
        double rim = Shapes.step(0.84, 0.9, radius) * Shapes.step(1.02, 0.95, radius);
        double relief = Math.max(inscription(radius, Math.atan2(v, u)), device(u, v));
        double scratches = noise.fractal(9 * u, 3 * v, 3);
        double height = 0.07 * rim + 0.05 * relief + 0.004 * scratches;
        double patina = wear * Shapes.step(0.15, -0.25, noise.fractal(2 * u, 2 * v, 4));
        double grime = 0.45 * (1 - Math.max(rim, relief)) * Shapes.step(0.5, 0.84, radius);
        Color color = metal.mix(tarnish, Math.min(patina + grime, 1));
        return new Surface(height, color, 0.5, 1);
    }

    @Override
    public Range radius() {
        return new Range(0.095, 0.185);
    }

    @Override
    public double thickness() {
        return 0.16;
    }

    /** Strokes of random width along the rim that read as letters too small to read. */
    private double inscription(double radius, double angle) {
        double along = (angle + Math.PI) / (2 * Math.PI) * (beads ? 40 : 64);
        double band = Shapes.step(0.66, 0.7, radius) * Shapes.step(0.82, 0.78, radius);
        if (beads) {
            double across = (radius - 0.75) / 0.055;
            double offset = 2 * (along - Math.floor(along)) - 1;
            return Shapes.step(1, 0.4, Math.hypot(across, offset));
        }
        boolean space = along < 4 || Math.abs(along - 32) < 3;
        return space || noise.cell(along, 0) < 0.4 ? 0 : band;
    }

    private double device(double u, double v) {
        double shape =
                switch (device) {
                    case 0 -> Shapes.star(u, v, points, 0.56, 0.26);
                    case 1 -> rosette(u, v);
                    default -> spray(u, v);
                };
        return Shapes.step(0.03, -0.07, shape);
    }

    /** A flower of round petals around a middle. */
    private double rosette(double u, double v) {
        double radius = Math.hypot(u, v);
        double petals = Math.abs(Math.cos(points * Math.atan2(v, u) / 2));
        double flower = (radius - 0.24 - 0.32 * Math.sqrt(petals)) * 0.6;
        return Math.max(flower, 0.04 - Math.abs(radius - 0.2));
    }

    /** A stalk with pairs of small leaves. */
    private static double spray(double u, double v) {
        double shape = Shapes.rectangle(u, v, 0.025, 0.55, 0.02);
        for (int pair = 0; pair < 4; pair++) {
            double x = Math.abs(u) - 0.17;
            double y = v - 0.36 + 0.26 * pair;
            double along = 0.77 * x - 0.64 * y;
            double across = 0.64 * x + 0.77 * y;
            shape = Math.min(shape, (Math.hypot(along, 2.3 * across) - 0.17) / 1.6);
        }
        return shape;
    }
}
