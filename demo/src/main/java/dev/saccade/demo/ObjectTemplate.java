package dev.saccade.demo;

import static dev.saccade.demo.Shapes.between;
import static dev.saccade.demo.Shapes.clamp;
import static dev.saccade.demo.Shapes.rectangle;
import static dev.saccade.demo.Shapes.step;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;

/**
 * An object in the unit circle, scaled by a radius given in fractions of the shorter image edge.
 *
 * @param thickness height above the table as a multiple of the radius; determines the shadow
 * @param outline signed distance to the outline, negative inside
 */
record ObjectTemplate(
        double minRadius,
        double maxRadius,
        double thickness,
        DoubleBinaryOperator outline,
        Surface.Texture texture) {

    /** Class names by label. */
    static final List<String> CLASSES = List.of("button", "coin", "key", "leaf");

    static ObjectTemplate sample(int label, SplittableRandom random) {
        return switch (label) {
            case 0 -> button(random);
            case 1 -> coin(random);
            case 2 -> key(random);
            default -> leaf(random);
        };
    }

    /** Samples a disc with a raised rim and two or four holes. */
    private static ObjectTemplate button(SplittableRandom random) {
        Vec color =
                Vec.sample(
                        random, 0xC8322F, 0x2F64B8, 0x1F8A83, 0xE8DDC8, 0xE3A72F, 0x7A4B9E,
                        0xE0788A, 0x33363C, 0x5D8F3A, 0x8A4B2B, 0xD9622B, 0x9CC4DE);
        Noise noise = new Noise(random);
        boolean four = random.nextInt(3) != 0;
        double holeRadius = between(random, 0.095, 0.13);
        double distance = between(random, 0.21, 0.27);
        double rim = between(random, 0.16, 0.3);
        double marbling = random.nextInt(3) == 0 ? 0.5 : 0.06;
        double gloss = between(random, 0.3, 0.9);
        double along = four ? distance * Math.sqrt(0.5) : distance;
        double across = four ? along : 0;
        DoubleBinaryOperator holes =
                (u, v) ->
                        Math.hypot(Math.abs(u) - along, (four ? Math.abs(v) : v) - across)
                                - holeRadius;
        Vec light = color.mix(new Vec(0.95, 0.93, 0.88), 0.55);
        Surface.Texture texture =
                (u, v) -> {
                    double radius = Math.hypot(u, v);
                    double ring = (radius - 1 + rim) / rim;
                    double bowl =
                            radius < 1 - rim
                                    ? 1 - 0.55 * step(1 - rim, 0.55 - rim, radius)
                                    : Math.sqrt(Math.max(1 - ring * ring, 0));
                    double countersink = step(0.07, 0, holes.applyAsDouble(u, v));
                    double swirl = noise.fractal(2.2 * u + noise.at(u, v), 2.2 * v, 3);
                    Vec dyed = color.mix(light, marbling * clamp(0.5 + swirl));
                    double height = 0.17 * bowl - 0.05 * countersink;
                    return new Surface(height, dyed.times(1 - 0.5 * countersink), gloss, 0);
                };
        DoubleBinaryOperator outline =
                (u, v) -> Math.max(Math.hypot(u, v) - 1, -holes.applyAsDouble(u, v));
        return new ObjectTemplate(0.075, 0.15, 0.3, outline, texture);
    }

    /** Samples a metal disc with a rim, an inscription and a motif in the middle. */
    private static ObjectTemplate coin(SplittableRandom random) {
        Vec metal = Vec.sample(random, 0xE6C068, 0xD8D4CC, 0xC9835A, 0xDDB257, 0xC6C8CC, 0xB87448);
        Vec tarnish = metal.mix(Vec.sample(random, 0x4A3A22, 0x38342C, 0x4C5A44), 0.75);
        Noise noise = new Noise(random);
        int kind = random.nextInt(3);
        int points = 5 + random.nextInt(4);
        double wear = between(random, 0.15, 0.6);
        boolean beads = random.nextBoolean();
        DoubleBinaryOperator device =
                switch (kind) {
                    case 0 -> (u, v) -> Shapes.star(u, v, points, 0.56, 0.26);
                    case 1 -> (u, v) -> rosette(u, v, points);
                    default -> ObjectTemplate::spray;
                };
        Surface.Texture texture =
                (u, v) -> {
                    double radius = Math.hypot(u, v);
                    double turn = (Math.atan2(v, u) + Math.PI) / (2 * Math.PI);
                    double text = beads ? beads(radius, turn) : letters(radius, turn, noise);
                    double rim = step(0.84, 0.9, radius) * step(1.02, 0.95, radius);
                    double relief = Math.max(text, step(0.03, -0.07, device.applyAsDouble(u, v)));
                    double scratches = noise.fractal(9 * u, 3 * v, 3);
                    double height = 0.07 * rim + 0.05 * relief + 0.004 * scratches;
                    double patina = wear * step(0.15, -0.25, noise.fractal(2 * u, 2 * v, 4));
                    double grime = 0.45 * (1 - Math.max(rim, relief)) * step(0.5, 0.84, radius);
                    return new Surface(
                            height, metal.mix(tarnish, Math.min(patina + grime, 1)), 0.5, 1);
                };
        return new ObjectTemplate(0.095, 0.185, 0.16, (u, v) -> Math.hypot(u, v) - 1, texture);
    }

    private static double beads(double radius, double turn) {
        double along = turn * 40;
        double offset = 2 * (along - Math.floor(along)) - 1;
        return step(1, 0.4, Math.hypot((radius - 0.75) / 0.055, offset));
    }

    /** Returns the height of an inscription: strokes along the rim that resemble small letters. */
    private static double letters(double radius, double turn, Noise noise) {
        double along = turn * 64;
        boolean space = along < 4 || Math.abs(along - 32) < 3 || noise.cell(along, 0) < 0.4;
        return space ? 0 : step(0.66, 0.7, radius) * step(0.82, 0.78, radius);
    }

    /** Returns the distance to a flower with round petals. */
    private static double rosette(double u, double v, int points) {
        double radius = Math.hypot(u, v);
        double petals = Math.abs(Math.cos(points * Math.atan2(v, u) / 2));
        double flower = (radius - 0.24 - 0.32 * Math.sqrt(petals)) * 0.6;
        return Math.max(flower, 0.04 - Math.abs(radius - 0.2));
    }

    /** Returns the distance to a stalk with pairs of small leaves. */
    private static double spray(double u, double v) {
        double shape = rectangle(u, v, 0.025, 0.55, 0.02);
        for (int pair = 0; pair < 4; pair++) {
            double x = Math.abs(u) - 0.17;
            double y = v - 0.36 + 0.26 * pair;
            double along = 0.77 * x - 0.64 * y;
            double across = 0.64 * x + 0.77 * y;
            shape = Math.min(shape, (Math.hypot(along, 2.3 * across) - 0.17) / 1.6);
        }
        return shape;
    }

    private static ObjectTemplate key(SplittableRandom random) {
        boolean flat = random.nextInt(5) < 2;
        int[] metals =
                flat
                        ? new int[] {0xD9D9D6, 0xD8B45C, 0xBFC3C8}
                        : new int[] {0xC9A14E, 0x8E8A84, 0xB9B4AA, 0xA8713F};
        Vec metal = Vec.sample(random, metals);
        Vec rust = Vec.sample(random, 0x5A3A22, 0x3E3832);
        Noise noise = new Noise(random);
        double bow = between(random, 0.25, 0.33);
        double wear = between(random, 0, 0.7);
        Key key = new Key(bow, random.nextInt(256));
        DoubleBinaryOperator outline = flat ? key::flat : key::skeleton;
        Surface.Texture texture =
                (u, v) -> {
                    double distance = outline.applyAsDouble(u, v);
                    double relief =
                            flat
                                    ? Shapes.roundEdge(distance, 0.03) - key.groove(u, v)
                                    : Shapes.roundEdge(distance, 0.075);
                    double dirt = noise.fractal(3 * u, 3 * v, 4);
                    Vec color = metal.mix(rust, wear * step(-0.2, 0.5, dirt));
                    return new Surface(relief + 0.003 * dirt, color, 0.6, 1);
                };
        return new ObjectTemplate(0.16, 0.29, flat ? 0.06 : 0.12, outline, texture);
    }

    /** A key: a bow, a shaft and a bit with cuts. */
    private record Key(double bow, int cuts) {

        double skeleton(double u, double v) {
            double ring = Math.abs(Math.hypot(u + 0.98 - bow, 0.85 * v) - (bow - 0.075)) - 0.075;
            double neck = 2 * bow - 0.98;
            double collar = rectangle(u - neck - 0.05, v, 0.05, 0.125, 0.03);
            double shaft = rectangle(u - (neck + 0.98) / 2, v, (0.98 - neck) / 2, 0.07, 0.05);
            double bit = rectangle(u - 0.75, v - 0.17, 0.15, 0.2, 0.02);
            double wardSide = rectangle(u - 0.66, v - 0.3, 0.03, 0.09, 0.01);
            double wardEnd = rectangle(u - 0.76 - 0.04 * (cuts & 3), v - 0.38, 0.035, 0.12, 0.01);
            bit = Math.max(bit, -Math.min(wardSide, wardEnd));
            return Math.min(Math.min(ring, collar), Math.min(shaft, bit));
        }

        double flat(double u, double v) {
            double head = rectangle(u + 0.98 - bow, v, bow, bow * 1.08, 0.16);
            double hole = Math.hypot(u + 0.9 - 0.3 * bow, v) - 0.085;
            double start = 2 * bow - 1.05;
            double blade = rectangle(u - (start + 0.98) / 2, v, (0.98 - start) / 2, 0.13, 0.05);
            double along = (u - start - 0.2) / 0.16;
            int tooth = (int) Math.floor(along);
            double depth = 0.03 + 0.035 * ((cuts >> Math.max(tooth, 0)) & 3);
            double notch = depth * Math.max(1 - Math.abs(2 * (along - tooth) - 1), 0);
            double edge = along < 0 ? v - 0.13 : (v - 0.13 + notch) * 0.75;
            return Math.min(Math.max(head, -hole), Math.max(blade, edge));
        }

        double groove(double u, double v) {
            double line = Math.abs(v + 0.03) - 0.025;
            return u < 2 * bow - 0.98 ? 0 : 0.02 * step(0.02, -0.02, line);
        }
    }

    private static ObjectTemplate leaf(SplittableRandom random) {
        int[] green = {0x4F7F2C, 0x6E9A36, 0x3C6B2A, 0x86A63C};
        int[] fallen = {0xC9932A, 0xB5561F, 0x8E3B22, 0xD9B23C, 0x7C5227};
        boolean fresh = random.nextInt(2) == 0;
        Vec blade = Vec.sample(random, fresh ? green : fallen);
        Vec autumn = Vec.sample(random, fresh && random.nextBoolean() ? green : fallen);
        Noise noise = new Noise(random);
        double width = between(random, 0.3, 0.5);
        double widest = between(random, 0.32, 0.5);
        double bend = between(random, -0.16, 0.16);
        double fold = between(random, 0.1, 0.4);
        int form = random.nextInt(3);
        double teeth = form == 1 ? 0.035 : 0;
        double lobes = form == 2 ? between(random, 0.3, 0.5) : 0;
        int veins = 5 + random.nextInt(4);
        Leaf leaf = new Leaf(width, widest, bend, teeth, lobes);
        Surface.Texture texture =
                (u, v) -> {
                    double across = Math.abs(v - leaf.spine(u));
                    double phase = (u - 0.75 * across) * veins;
                    double side = Math.abs(phase - Math.rint(phase)) / veins;
                    double vein =
                            Math.max(step(0.026, 0.006, across), 0.7 * step(0.028, 0.006, side));
                    double crumple = noise.fractal(2.5 * u, 2.5 * v, 4);
                    double quilt = 0.012 * step(0, 0.5 / veins, side);
                    double height =
                            fold * across - 0.5 * fold * across * across + 0.045 * crumple + quilt;
                    double patch = noise.fractal(1.3 * u + 3, 1.3 * v, 3) + across - 0.2;
                    double spot = step(0.42, 0.6, noise.at(5 * u + 9, 5 * v));
                    Vec color =
                            blade.mix(autumn, step(-0.3, 0.5, patch))
                                    .times(1 + 0.25 * noise.at(14 * u, 14 * v))
                                    .mix(new Vec(0.07, 0.04, 0.02), 0.6 * spot)
                                    .mix(new Vec(0.6, 0.55, 0.28), 0.38 * vein);
                    return new Surface(height, color, 0.14, 0);
                };
        return new ObjectTemplate(0.17, 0.33, 0.12, leaf::outline, texture);
    }

    /** A leaf: a plain, toothed or lobed blade with a stalk. */
    private record Leaf(double width, double widest, double bend, double teeth, double lobes) {

        private static final double BASE = -0.66;

        double spine(double u) {
            return bend * (u * u - 0.4);
        }

        double outline(double u, double v) {
            double across = Math.abs(v - spine(u));
            double t = (u - BASE) / (0.97 - BASE);
            double half = t <= 0 || t >= 1 ? 0 : halfWidth(t);
            double beyond = Math.max(BASE - u, u - 0.97);
            double blade = beyond > 0 ? Math.hypot(beyond, across) : 0.75 * (across - half);
            double stalk = rectangle(u - (BASE - 0.97) / 2, v - spine(u), 0.17, 0.02, 0.015);
            return Math.min(blade, stalk);
        }

        /** Returns half the width at {@code t} (base 0, tip 1): a Beta curve, lobed or toothed. */
        private double halfWidth(double t) {
            double rise = 1.1;
            double fall = rise * (1 - widest) / widest;
            double curve = Math.pow(t / widest, rise) * Math.pow((1 - t) / (1 - widest), fall);
            double lobe = 1 - lobes * (0.5 - 0.5 * Math.cos(2 * Math.PI * 4.5 * t));
            double tooth = t * 16 - Math.floor(t * 16);
            return width * curve * lobe + teeth * (tooth - 0.5) * Math.min(4 * (1 - t), 1);
        }
    }
}
