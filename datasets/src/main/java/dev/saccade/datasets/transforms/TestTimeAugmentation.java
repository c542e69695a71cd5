package dev.saccade.datasets.transforms;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;

import dev.saccade.core.Checks;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.Transform;

import java.util.ArrayList;
import java.util.List;

/**
 * Test-time augmentation: predicts an image at each scale, optionally also flipped horizontally,
 * and merges the results.
 *
 * @param scales pairs of edges in pixels that replace the scales of {@link Resize}; empty keeps
 *     them
 * @param ratios factors of each scale, like mmsegmentation's {@code img_ratios}
 * @param flip whether to also predict each scale flipped horizontally
 */
public record TestTimeAugmentation(
        @Default("[]") List<List<Integer>> scales,
        @Default("[1.0]") List<Double> ratios,
        @Default("false") boolean flip) {

    private static final RandomFlip MIRROR = new RandomFlip(1, RandomFlip.Direction.HORIZONTAL);

    public TestTimeAugmentation {
        scales = scales.stream().map(List::copyOf).toList();
        ratios = List.copyOf(ratios);
        Resize.checks(scales)
                .size("scales", scales, 0, Resize.MAX_SCALES)
                .size("ratios", ratios, 1, Resize.MAX_SCALES)
                .each("ratios", ratios, 0.01, 100)
                .throwIfAny();
        Checks.require(
                scales.size() * ratios.size() <= Resize.MAX_SCALES,
                "ratios",
                ratios.size() + " ratios of " + scales.size() + " scales",
                "at most %s scales in total",
                Resize.MAX_SCALES);
    }

    public TestTimeAugmentation(List<List<Integer>> scales, boolean flip) {
        this(scales, List.of(1.0), flip);
    }

    /**
     * Returns the transforms of each augmented image: by scale, unflipped before flipped.
     *
     * @param transforms transforms without augmentation
     * @throws IllegalArgumentException if scales change and not exactly one transform is a {@link
     *     Resize}, or if a scaled size is too large
     */
    public List<List<Transform>> pipelines(List<Transform> transforms) {
        List<Transform> resizes = transforms.stream().filter(Resize.class::isInstance).toList();
        if (resizes.isEmpty() && scales.isEmpty() && ratios.equals(List.of(1.0))) {
            return unscaled(transforms);
        }
        Checks.require(
                resizes.size() == 1,
                "transforms",
                transforms.stream().map(ComponentConfig::type).toList(),
                "exactly one resize, whose scales test-time augmentation replaces; without"
                        + " resize, use flip only");
        Resize own = (Resize) resizes.get(0);
        int place = transforms.indexOf(own);
        ImmutableList.Builder<List<Transform>> pipelines = ImmutableList.builder();
        for (Resize resize : resizes(own)) {
            List<Transform> pipeline = new ArrayList<>(transforms);
            pipeline.set(place, resize);
            pipelines.add(List.copyOf(pipeline));
            if (flip) {
                pipeline.add(place + 1, MIRROR);
                pipelines.add(List.copyOf(pipeline));
            }
        }
        return pipelines.build();
    }

    /** Returns pipelines that differ only in the flip, before {@code normalize} and {@code pad}. */
    private List<List<Transform>> unscaled(List<Transform> transforms) {
        if (!flip) {
            return List.of(transforms);
        }
        int last = Iterables.indexOf(transforms, Transform::mustBeLast);
        List<Transform> flipped = new ArrayList<>(transforms);
        flipped.add(last < 0 ? transforms.size() : last, MIRROR);
        return List.of(transforms, List.copyOf(flipped));
    }

    private List<Resize> resizes(Resize own) {
        List<Resize> bases =
                scales.isEmpty() ? List.of(own) : scales.stream().map(own::to).toList();
        return bases.stream().flatMap(base -> ratios.stream().map(base::times)).toList();
    }
}
