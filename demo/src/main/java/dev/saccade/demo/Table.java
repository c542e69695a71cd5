package dev.saccade.demo;

import static dev.saccade.demo.Shapes.between;
import static dev.saccade.demo.Shapes.clamp;
import static dev.saccade.demo.Shapes.step;

import java.util.SplittableRandom;

record Table(Noise noise, Vec color, Vec second, double pattern) {

    /** Color pairs of wood, linen, paper and stone. */
    private static final int[][] PALETTES = {
        {
            0xB98A57, 0x8A5A34, 0x7C5234, 0x50301C, 0xD2B48A, 0xA88558, 0x9C7B5E, 0x70543E,
            0x5A4636, 0x3A2B20
        },
        {
            0xCFC4AE, 0xA89A80, 0x6F7F8E, 0x4C5A68, 0xA65B52, 0x7C3B36, 0x8C9A80, 0x66745A,
            0x4C5566, 0x343C4C
        },
        {0xEDE8DC, 0xB8C6D8, 0xF2F0EA, 0xC9B8B0, 0xC9A878, 0xA98858},
        {0xB9B6B0, 0x7F7C78, 0x5F6468, 0x3A3E42, 0xD9D6D0, 0x9A948C, 0xA39382, 0x6E6154}
    };

    /** Samples a table; coordinates point right and down, 1 is the shorter image edge. */
    static Surface.Texture sample(SplittableRandom random) {
        int kind = random.nextInt(PALETTES.length);
        Noise noise = new Noise(random);
        double originX = between(random, 0, 100);
        double originY = between(random, 0, 100);
        double angle = between(random, 0, 2 * Math.PI);
        double cos = Math.cos(angle);
        double sin = Math.sin(angle);
        double scale = between(random, 0.8, 1.4);
        double pattern = random.nextDouble();
        int[] palette = PALETTES[kind];
        int pair = 2 * random.nextInt(palette.length / 2);
        Table table =
                new Table(noise, Vec.color(palette[pair]), Vec.color(palette[pair + 1]), pattern);
        Surface.Texture texture =
                switch (kind) {
                    case 0 -> table::wood;
                    case 1 -> table::linen;
                    case 2 -> table::paper;
                    default -> table::stone;
                };
        return (x, y) ->
                texture.at(
                        (cos * x + sin * y) * scale + originX,
                        (cos * y - sin * x) * scale + originY);
    }

    private Surface wood(double u, double v) {
        double board = Math.floor(v * 1.7);
        double inBoard = v * 1.7 - board;
        double joint = step(0.015, 0.004, Math.min(inBoard, 1 - inBoard));
        double shift = 40 * noise.cell(board, 7);
        double warp = noise.fractal(0.7 * u + shift, 2.2 * v + shift, 3);
        double rings = 0.5 + 0.5 * Math.sin(42 * v + 9 * warp + shift);
        double fiber = noise.fractal(3 * u + shift, 90 * v, 3);
        double pore = step(0.25, 0.6, noise.at(11 * u + shift, 150 * v));
        double dark = 0.55 * rings * rings + 0.25 * fiber + 0.3 * pore + 0.3 * warp;
        Vec grain = mix(dark).times(0.85 + 0.3 * noise.cell(board, 3));
        double height = 0.0012 * fiber - 0.002 * pore - 0.02 * joint;
        return new Surface(height, grain.times(1 - 0.75 * joint), 0.1 + 0.12 * pattern, 0);
    }

    private Surface linen(double u, double v) {
        double threads = 44;
        double wobble = 0.35 * noise.fractal(6 * u, 6 * v, 2);
        double warp = Math.sin(Math.PI * (threads * u + wobble));
        double weft = Math.sin(Math.PI * (threads * v + wobble));
        boolean warpOnTop = warp * weft > 0;
        double thread = warpOnTop ? Math.abs(warp) : Math.abs(weft);
        double slub =
                warpOnTop ? noise.at(threads * u * 0.9, 4 * v) : noise.at(4 * u, threads * v * 0.9);
        double fold = noise.fractal(1.1 * u, 0.7 * v, 3);
        double stripe = pattern < 0.4 ? step(0.42, 0.46, Math.abs(2 * v - Math.rint(2 * v))) : 0;
        double dark = 0.4 * (1 - thread) + 0.25 * slub + 0.15 + 0.6 * stripe;
        return new Surface(0.003 * thread + 0.05 * fold, mix(dark), 0, 0);
    }

    private Surface paper(double u, double v) {
        double tooth = noise.fractal(30 * u, 30 * v, 3);
        double wave = noise.fractal(1.2 * u, 1.2 * v, 2);
        double stain = step(0.1, 0.7, noise.fractal(1.6 * u + 31, 1.6 * v, 3));
        double row = Math.abs(9 * v - Math.rint(9 * v)) / 9;
        double column = Math.abs(9 * u - Math.rint(9 * u)) / 9;
        double line = step(0.006, 0.002, pattern < 0.3 ? Math.min(row, column) : row);
        double ink = pattern < 0.65 ? 0.75 * line : 0;
        Vec sheet = color.times(0.9 + 0.05 * tooth).mix(second, ink + 0.25 * stain);
        return new Surface(0.0009 * tooth + 0.02 * wave, sheet, 0.02, 0);
    }

    private Surface stone(double u, double v) {
        double cloud = noise.fractal(2 * u, 2 * v, 5);
        double ridge = 1 - Math.abs(noise.fractal(1.4 * u + 0.4 * cloud, 1.4 * v + 7, 4));
        double vein = step(0.955, 1, ridge) * step(-0.4, 0.4, cloud);
        double speck = noise.fractal(38 * u, 38 * v, 3);
        Vec rock = mix(0.45 + 0.5 * cloud + 0.28 * speck);
        Vec seam = pattern < 0.5 ? second.times(0.7) : new Vec(0.8, 0.78, 0.74);
        double height = 0.002 * cloud + 0.0005 * speck - 0.001 * vein;
        return new Surface(height, rock.mix(seam, 0.55 * vein), 0.25 * pattern, 0);
    }

    private Vec mix(double dark) {
        return color.mix(second, clamp(dark));
    }
}
