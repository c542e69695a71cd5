package dev.saccade.demo;

import java.util.SplittableRandom;

/** A sewing button: a disc with a raised rim and two or four holes. */
final class Button implements Thing {

    private final Color color;
    private final Noise noise;
    private final int holes;
    private final double holeRadius;
    private final double holeDistance;
    private final double rim;
    private final double marbling;
    private final double gloss;

    Button(SplittableRandom random) {
        color =
                Color.pick(
                        random, 0xC8322F, 0x2F64B8, 0x1F8A83, 0xE8DDC8, 0xE3A72F, 0x7A4B9E,
                        0xE0788A, 0x33363C, 0x5D8F3A, 0x8A4B2B, 0xD9622B, 0x9CC4DE);
        noise = new Noise(random);
        holes = random.nextInt(3) == 0 ? 2 : 4;
        holeRadius = Range.draw(random, 0.095, 0.13);
        holeDistance = Range.draw(random, 0.21, 0.27);
        rim = Range.draw(random, 0.16, 0.3);
        marbling = random.nextInt(3) == 0 ? 0.5 : 0.06;
        gloss = Range.draw(random, 0.3, 0.9);
    }

    @Override
    public double distance(double u, double v) {
        return Math.max(Shapes.disc(u, v, 1), -holeDistance(u, v));
    }

    @Override
    public Surface surface(double u, double v) {
        double radius = Math.hypot(u, v);
        double ring = (radius - 1 + rim) / rim;
        double torus = Math.sqrt(Math.max(1 - ring * ring, 0));
        double bowl =
                radius < 1 - rim ? 1 - 0.55 * Shapes.step(1 - rim, 0.55 - rim, radius) : torus;
        double countersink = Shapes.step(0.07, 0, holeDistance(u, v));
        double height = 0.17 * bowl - 0.05 * countersink;
        double swirl = noise.fractal(2.2 * u + noise.at(u, v), 2.2 * v, 3);
        Color light = color.mix(new Color(0.95, 0.93, 0.88), 0.55);
        Color dyed = color.mix(light, marbling * Math.min(Math.max(0.5 + swirl, 0), 1));
        return new Surface(height, dyed.times(1 - 0.5 * countersink), gloss, 0);
    }

    @Override
    public Range radius() {
        return new Range(0.075, 0.15);
    }

    @Override
    public double thickness() {
        return 0.3;
    }

    private double holeDistance(double u, double v) {
        double x = Math.abs(u);
        double y = holes == 4 ? Math.abs(v) : v;
        double along = holes == 4 ? holeDistance * Math.sqrt(0.5) : holeDistance;
        double across = holes == 4 ? along : 0;
        return Math.hypot(x - along, y - across) - holeRadius;
    }
}
