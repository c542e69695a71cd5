package dev.saccade.parity;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.RandomCrop;
import dev.saccade.datasets.transforms.RandomFlip;
import dev.saccade.datasets.transforms.Resize;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Transforms of mmdetection and mmsegmentation settings, with random values given in the settings.
 */
final class ScriptedTransforms {

    private ScriptedTransforms() {}

    /** Returns the sample after one transform. */
    static Sample apply(Settings step, Sample sample) {
        String type = step.text("type");
        // No random values are used: probabilities are 0 or 1, and there is one scale.
        SplittableRandom random = new SplittableRandom(0);
        switch (type) {
            case "Resize", "AlignResize" -> {
                Resize resize =
                        new Resize(
                                List.of(scale(step, sample.info().size())),
                                Resize.Mode.VALUE,
                                step.flag("keep_ratio", true),
                                List.of(),
                                step.integer("size_divisor", type.equals("Resize") ? 1 : 32));
                return resize.apply(sample, random);
            }
            case "RandomFlip" -> {
                RandomFlip flip = new RandomFlip(probability(step), direction(step));
                return flip.apply(sample, random);
            }
            case "RandomCrop" -> {
                step.only("crop_type", "absolute");
                step.only("bbox_clip_border", true);
                step.only("ignore_index", 255);
                // The crop is given, whatever its class ratio.
                step.describes("cat_max_ratio");
                List<Integer> part = step.integers("crop_size");
                List<Integer> offset = step.integers("_offset");
                Size image = sample.info().size();
                RandomCrop crop =
                        new RandomCrop(
                                RandomCrop.Mode.ABSOLUTE,
                                List.of(),
                                1,
                                step.flag("recompute_bbox", false),
                                step.flag("allow_negative_crop", true));
                return crop.cut(
                        sample,
                        offset.get(0),
                        offset.get(1),
                        new Size(
                                Math.min(part.get(0), image.height()),
                                Math.min(part.get(1), image.width())));
            }
            case "Normalize" -> {
                step.only("to_rgb", true);
                return new Normalize(step.numbers("mean"), step.numbers("std"))
                        .apply(sample, random);
            }
            case "Pad" -> {
                step.only("pad_val", 0);
                step.only("seg_pad_val", 255);
                return new Pad(step.integers("size", List.of()), step.integer("size_divisor", 32))
                        .apply(sample, random);
            }
            default -> throw step.unbuilt("type");
        }
    }

    private static List<Integer> scale(Settings step, Size image) {
        List<Integer> scale = step.integers("img_scale", List.of(image.width(), image.height()));
        if (!step.has("_ratio")) {
            return scale;
        }
        step.describes("ratio_range", "multiscale_mode");
        double ratio = step.number("_ratio");
        return scale.stream().map(edge -> (int) (edge * ratio)).toList();
    }

    private static double probability(Settings step) {
        String key = step.has("prob") ? "prob" : "flip_ratio";
        double probability = step.number(key);
        if (probability != 0 && probability != 1) {
            throw step.refused(key, "expected 0 or 1, for the flip to be scripted");
        }
        return probability;
    }

    private static RandomFlip.Direction direction(Settings step) {
        String direction = step.has("direction") ? step.text("direction") : "horizontal";
        return switch (direction) {
            case "horizontal" -> RandomFlip.Direction.HORIZONTAL;
            case "vertical" -> RandomFlip.Direction.VERTICAL;
            default -> throw step.refused("direction", "expected horizontal or vertical");
        };
    }
}
