package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.anchor.AnchorGenerator;

import java.util.List;

/** Anchors of a cell and of whole levels, and which are inside the image. */
final class AnchorsKind implements Kind {

    private static final Tolerance PIXELS = Tolerance.absolute(1e-3);

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "AnchorGenerator");
        Size padded = size(recorded.settings().numbers("pad_shape"));
        List<Size> grids =
                recorded.settings().lists("feature_sizes").stream().map(AnchorsKind::size).toList();
        List<Settings> configs = recorded.settings().objects("config");
        for (int k = 0; k < configs.size(); k++) {
            AnchorGenerator generator = generator(configs.get(k));
            for (int level = 0; level < grids.size(); level++) {
                String name = k + "_" + level;
                Size grid = grids.get(level);
                compare(recorded, "base" + name, generator.baseAnchors(level));
                NDArray base = generator.baseAnchors(recorded.manager()).get(level);
                float[] anchors = generator.anchors(base, level, grids).toFloatArray();
                compare(recorded, "anchors" + name, Boxes.of(anchors));
                recorded.compare(
                        "valid" + name, valid(generator, level, grid, padded), Tolerance.EXACT);
            }
        }
    }

    private static AnchorGenerator generator(Settings config) {
        return new AnchorGenerator(
                scales(config),
                config.numbers("ratios"),
                config.flag("scale_major", true),
                centerOffset(config),
                config.integers("strides"));
    }

    /** Returns anchor sizes in strides, of either form of mmdetection's settings. */
    static List<Double> scales(Settings config) {
        return config.has("scales")
                ? config.numbers("scales")
                : AnchorGenerator.octaveScales(
                        config.number("octave_base_scale"), config.integer("scales_per_octave"));
    }

    /** Returns the anchor center offset; checks mmdetection's other settings. */
    static double centerOffset(Settings config) {
        config.onlyClass("type", "AnchorGenerator");
        config.only("base_sizes", config.integers("strides"));
        config.only("centers", null);
        // Type of the original's return values.
        config.describes("use_box_type");
        return config.number("center_offset", 0);
    }

    private static void compare(Case recorded, String name, Boxes boxes) {
        recorded.compare(name, NumpyArray.of(boxes.toArray()).reshape(boxes.size(), 4), PIXELS);
    }

    private static NumpyArray valid(AnchorGenerator generator, int level, Size grid, Size padded) {
        Size valid = generator.validGrid(level, grid, padded);
        int[] flags = new int[Math.toIntExact(grid.area()) * generator.anchorsPerCell()];
        for (int i = 0; i < flags.length; i++) {
            int cell = i / generator.anchorsPerCell();
            boolean inside =
                    cell % grid.width() < valid.width() && cell / grid.width() < valid.height();
            flags[i] = inside ? 1 : 0;
        }
        return NumpyArray.of(flags);
    }

    private static Size size(List<Double> heightAndWidth) {
        return new Size(heightAndWidth.get(0).intValue(), heightAndWidth.get(1).intValue());
    }
}
