package dev.saccade.demo;

import java.util.SplittableRandom;

/** A fallen leaf: a blade with a midrib and side veins, whole, toothed or lobed, and a stalk. */
final class Leaf implements Thing {

    private static final double BASE = -0.66;

    private final Color blade;
    private final Color autumn;
    private final Noise noise;
    private final double width;
    private final double widest;
    private final double bend;
    private final double fold;
    private final double teeth;
    private final double lobes;
    private final int veins;

    Leaf(SplittableRandom random) {
        int[] green = {0x4F7F2C, 0x6E9A36, 0x3C6B2A, 0x86A63C};
        int[] fallen = {0xC9932A, 0xB5561F, 0x8E3B22, 0xD9B23C, 0x7C5227};
        boolean fresh = random.nextInt(2) == 0;
        blade = Color.pick(random, fresh ? green : fallen);
        autumn = Color.pick(random, fresh && random.nextBoolean() ? green : fallen);
        noise = new Noise(random);
        width = Range.draw(random, 0.3, 0.5);
        widest = Range.draw(random, 0.32, 0.5);
        bend = Range.draw(random, -0.16, 0.16);
        fold = Range.draw(random, 0.1, 0.4);
        int form = random.nextInt(3);
        teeth = form == 1 ? 0.035 : 0;
        lobes = form == 2 ? Range.draw(random, 0.3, 0.5) : 0;
        veins = 5 + random.nextInt(4);
    }

    @Override
    public double distance(double u, double v) {
        double across = Math.abs(v - spine(u));
        double t = (u - BASE) / (0.97 - BASE);
        double half = t <= 0 || t >= 1 ? 0 : halfWidth(t);
        double beyond = Math.max(BASE - u, u - 0.97);
        double blade = beyond > 0 ? Math.hypot(beyond, across) : 0.75 * (across - half);
        double stalk = Shapes.rectangle(u - (BASE - 0.97) / 2, v - spine(u), 0.17, 0.02, 0.015);
        return Math.min(blade, stalk);
    }

    @Override
    public Surface surface(double u, double v) {
        double across = Math.abs(v - spine(u));
        double midrib = Shapes.step(0.026, 0.006, across);
        double phase = (u - 0.75 * across) * veins;
        double side = Math.abs(phase - Math.rint(phase)) / veins;
        double vein = Math.max(midrib, 0.7 * Shapes.step(0.028, 0.006, side));
        double crumple = noise.fractal(2.5 * u, 2.5 * v, 4);
        double quilt = 0.012 * Shapes.step(0, 0.5 / veins, side);
        double height = fold * across - 0.5 * fold * across * across + 0.045 * crumple + quilt;
        double turned =
                Shapes.step(-0.3, 0.5, noise.fractal(1.3 * u + 3, 1.3 * v, 3) + across - 0.2);
        Color color = blade.mix(autumn, turned).times(1 + 0.25 * noise.at(14 * u, 14 * v));
        double spot = Shapes.step(0.42, 0.6, noise.at(5 * u + 9, 5 * v));
        color = color.mix(new Color(0.07, 0.04, 0.02), 0.6 * spot);
        return new Surface(height, color.mix(new Color(0.6, 0.55, 0.28), 0.38 * vein), 0.14, 0);
    }

    @Override
    public Range radius() {
        return new Range(0.17, 0.33);
    }

    @Override
    public double thickness() {
        return 0.12;
    }

    private double spine(double u) {
        return bend * (u * u - 0.4);
    }

    /** Half the width of the blade, a Beta curve with its top at {@code widest}. */
    private double halfWidth(double t) {
        double rise = 1.1;
        double fall = rise * (1 - widest) / widest;
        double curve = Math.pow(t / widest, rise) * Math.pow((1 - t) / (1 - widest), fall);
        double lobe = 1 - lobes * (0.5 - 0.5 * Math.cos(2 * Math.PI * 4.5 * t));
        double tooth = t * 16 - Math.floor(t * 16);
        return width * curve * lobe + teeth * (tooth - 0.5) * Math.min(4 * (1 - t), 1);
    }
}
