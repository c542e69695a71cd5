package dev.saccade.demo;

import java.util.SplittableRandom;

/** A key: a bow to hold, a shaft, and a bit that turns the lock; of the old kind or the new. */
final class Key implements Thing {

    private final Color metal;
    private final Color rust;
    private final Noise noise;
    private final boolean flat;
    private final double bow;
    private final double wear;
    private final int cuts;

    Key(SplittableRandom random) {
        flat = random.nextInt(5) < 2;
        metal =
                flat
                        ? Color.pick(random, 0xD9D9D6, 0xD8B45C, 0xBFC3C8)
                        : Color.pick(random, 0xC9A14E, 0x8E8A84, 0xB9B4AA, 0xA8713F);
        rust = Color.pick(random, 0x5A3A22, 0x3E3832);
        noise = new Noise(random);
        bow = Range.draw(random, 0.25, 0.33);
        wear = Range.draw(random, 0, 0.7);
        cuts = random.nextInt(256);
    }

    @Override
    public double distance(double u, double v) {
        return flat ? flatKey(u, v) : skeletonKey(u, v);
    }

    @Override
    public Surface surface(double u, double v) {
        double distance = distance(u, v);
        double height =
                flat
                        ? Shapes.roundEdge(distance, 0.03) - groove(u, v)
                        : Shapes.roundEdge(distance, 0.075);
        double dirt = noise.fractal(3 * u, 3 * v, 4);
        Color color = metal.mix(rust, wear * Shapes.step(-0.2, 0.5, dirt));
        return new Surface(height + 0.003 * dirt, color, 0.6, 1);
    }

    @Override
    public Range radius() {
        return new Range(0.16, 0.29);
    }

    @Override
    public double thickness() {
        return flat ? 0.06 : 0.12;
    }

    private double skeletonKey(double u, double v) {
        double ring = Shapes.ring(u + 0.98 - bow, 0.85 * v, bow - 0.075, 0.075);
        double neck = 2 * bow - 0.98;
        double collar = Shapes.rectangle(u - neck - 0.05, v, 0.05, 0.125, 0.03);
        double shaft = Shapes.rectangle(u - (neck + 0.98) / 2, v, (0.98 - neck) / 2, 0.07, 0.05);
        double bit = Shapes.rectangle(u - 0.75, v - 0.17, 0.15, 0.2, 0.02);
        double wardSide = Shapes.rectangle(u - 0.66, v - 0.3, 0.03, 0.09, 0.01);
        double wardEnd =
                Shapes.rectangle(u - 0.76 - 0.04 * (cuts & 3), v - 0.38, 0.035, 0.12, 0.01);
        bit = Math.max(bit, -Math.min(wardSide, wardEnd));
        return Math.min(Math.min(ring, collar), Math.min(shaft, bit));
    }

    private double flatKey(double u, double v) {
        double head = Shapes.rectangle(u + 0.98 - bow, v, bow, bow * 1.08, 0.16);
        double hole = Shapes.disc(u + 0.9 - 0.3 * bow, v, 0.085);
        double start = 2 * bow - 1.05;
        double blade = Shapes.rectangle(u - (start + 0.98) / 2, v, (0.98 - start) / 2, 0.13, 0.05);
        double along = (u - start - 0.2) / 0.16;
        int tooth = (int) Math.floor(along);
        double depth = 0.03 + 0.035 * ((cuts >> Math.max(tooth, 0)) & 3);
        double notch = depth * Math.max(1 - Math.abs(2 * (along - tooth) - 1), 0);
        double edge = along < 0 ? v - 0.13 : (v - 0.13 + notch) * 0.75;
        return Math.min(Math.max(head, -hole), Math.max(blade, edge));
    }

    private double groove(double u, double v) {
        double line = Math.abs(v + 0.03) - 0.025;
        return u < 2 * bow - 0.98 ? 0 : 0.02 * Shapes.step(0.02, -0.02, line);
    }
}
