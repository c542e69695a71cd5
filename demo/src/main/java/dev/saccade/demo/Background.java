package dev.saccade.demo;

import java.util.SplittableRandom;

/** The table: wood, linen, paper or stone, without end, at a random place and angle. */
final class Background {

    private enum Kind {
        WOOD,
        LINEN,
        PAPER,
        STONE
    }

    private final Kind kind;
    private final Noise noise;
    private final Color color;
    private final Color second;
    private final double originX;
    private final double originY;
    private final double cos;
    private final double sin;
    private final double scale;
    private final double pattern;

    Background(SplittableRandom random) {
        kind = Kind.values()[random.nextInt(Kind.values().length)];
        noise = new Noise(random);
        originX = Range.draw(random, 0, 100);
        originY = Range.draw(random, 0, 100);
        double angle = Range.draw(random, 0, 2 * Math.PI);
        cos = Math.cos(angle);
        sin = Math.sin(angle);
        scale = Range.draw(random, 0.8, 1.4);
        pattern = random.nextDouble();
        int[][] palette =
                switch (kind) {
                    case WOOD ->
                            new int[][] {
                                {0xB98A57, 0x8A5A34},
                                {0x7C5234, 0x50301C},
                                {0xD2B48A, 0xA88558},
                                {0x9C7B5E, 0x70543E},
                                {0x5A4636, 0x3A2B20}
                            };
                    case LINEN ->
                            new int[][] {
                                {0xCFC4AE, 0xA89A80},
                                {0x6F7F8E, 0x4C5A68},
                                {0xA65B52, 0x7C3B36},
                                {0x8C9A80, 0x66745A},
                                {0x4C5566, 0x343C4C}
                            };
                    case PAPER ->
                            new int[][] {
                                {0xEDE8DC, 0xB8C6D8}, {0xF2F0EA, 0xC9B8B0}, {0xC9A878, 0xA98858}
                            };
                    case STONE ->
                            new int[][] {
                                {0xB9B6B0, 0x7F7C78},
                                {0x5F6468, 0x3A3E42},
                                {0xD9D6D0, 0x9A948C},
                                {0xA39382, 0x6E6154}
                            };
                };
        int[] pair = palette[random.nextInt(palette.length)];
        color = Color.of(pair[0]);
        second = Color.of(pair[1]);
    }

    /**
     * Returns the surface at a point.
     *
     * @param x to the right, in heights of the picture
     * @param y down, in heights of the picture
     */
    Surface surface(double x, double y) {
        double u = (cos * x + sin * y) * scale + originX;
        double v = (cos * y - sin * x) * scale + originY;
        return switch (kind) {
            case WOOD -> wood(u, v);
            case LINEN -> linen(u, v);
            case PAPER -> paper(u, v);
            case STONE -> stone(u, v);
        };
    }

    private Surface wood(double u, double v) {
        double board = Math.floor(v * 1.7);
        double inBoard = v * 1.7 - board;
        double joint = Shapes.step(0.015, 0.004, Math.min(inBoard, 1 - inBoard));
        double shift = 40 * noise.cell(board, 7);
        double warp = noise.fractal(0.7 * u + shift, 2.2 * v + shift, 3);
        double rings = 0.5 + 0.5 * Math.sin(42 * v + 9 * warp + shift);
        double fiber = noise.fractal(3 * u + shift, 90 * v, 3);
        double pore = Shapes.step(0.25, 0.6, noise.at(11 * u + shift, 150 * v));
        double dark = 0.55 * rings * rings + 0.25 * fiber + 0.3 * pore + 0.3 * warp;
        double tone = 0.85 + 0.3 * noise.cell(board, 3);
        Color grain = color.mix(second, Math.min(Math.max(dark, 0), 1)).times(tone);
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
        double stripe =
                pattern < 0.4 ? Shapes.step(0.42, 0.46, Math.abs(2 * v - Math.rint(2 * v))) : 0;
        double dark = 0.4 * (1 - thread) + 0.25 * slub + 0.15 + 0.6 * stripe;
        Color cloth = color.mix(second, Math.min(Math.max(dark, 0), 1));
        return new Surface(0.003 * thread + 0.05 * fold, cloth, 0, 0);
    }

    private Surface paper(double u, double v) {
        double tooth = noise.fractal(30 * u, 30 * v, 3);
        double wave = noise.fractal(1.2 * u, 1.2 * v, 2);
        double stain = Shapes.step(0.1, 0.7, noise.fractal(1.6 * u + 31, 1.6 * v, 3));
        double line = 0;
        if (pattern < 0.65) {
            double row = Math.abs(9 * v - Math.rint(9 * v)) / 9;
            double column = Math.abs(9 * u - Math.rint(9 * u)) / 9;
            line = Shapes.step(0.006, 0.002, pattern < 0.3 ? Math.min(row, column) : row);
        }
        Color sheet = color.times(0.9 + 0.05 * tooth).mix(second, 0.75 * line + 0.25 * stain);
        return new Surface(0.0009 * tooth + 0.02 * wave, sheet, 0.02, 0);
    }

    private Surface stone(double u, double v) {
        double cloud = noise.fractal(2 * u, 2 * v, 5);
        double ridge = 1 - Math.abs(noise.fractal(1.4 * u + 0.4 * cloud, 1.4 * v + 7, 4));
        double vein = Shapes.step(0.955, 1, ridge) * Shapes.step(-0.4, 0.4, cloud);
        double speck = noise.fractal(38 * u, 38 * v, 3);
        double dark = 0.45 + 0.5 * cloud + 0.28 * speck;
        Color rock = color.mix(second, Math.min(Math.max(dark, 0), 1));
        Color seam = pattern < 0.5 ? second.times(0.7) : new Color(0.8, 0.78, 0.74);
        double height = 0.002 * cloud + 0.0005 * speck - 0.001 * vein;
        return new Surface(height, rock.mix(seam, 0.55 * vein), 0.25 * pattern, 0);
    }
}
