package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.SamplePool;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Applies one of several lists of transforms, chosen at random (mmdetection's {@code AutoAugment}).
 *
 * @param branches lists of transforms with equal probability; a list may be empty
 */
@Component("random_choice")
public record RandomChoice(@Default("[[]]") List<List<Transform>> branches) implements Transform {

    public RandomChoice {
        branches = branches.stream().map(List::copyOf).toList();
        Checks checks = new Checks().size("branches", branches, 1, 100);
        for (int i = 0; i < branches.size(); i++) {
            checks.size("branches[" + i + "]", branches.get(i), 0, 100);
        }
        checks.throwIfAny();
        Checks.require(
                branches.stream().flatMap(List::stream).noneMatch(Transform::mustBeFirst),
                "branches",
                "random_resized_crop with reduced_decoding",
                "reduced_decoding only in the first of train_transforms");
    }

    @Override
    public RandomChoice withDefaultSize(InputSize size) {
        return new RandomChoice(branches.stream().map(size::applyTo).toList());
    }

    @Override
    public ImageScale scale(ImageScale image) {
        return branches.stream()
                .map(image::after)
                .max(Comparator.comparingDouble(ImageScale::factor))
                .orElse(image);
    }

    @Override
    public boolean needsOtherSamples() {
        return branches.stream().flatMap(List::stream).anyMatch(Transform::needsOtherSamples);
    }

    @Override
    public boolean mustBeLast() {
        return branches.stream().flatMap(List::stream).anyMatch(Transform::mustBeLast);
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return branches.stream()
                .flatMap(List::stream)
                .flatMap(step -> step.incompatibility(targets).stream())
                .findFirst();
    }

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return branches.stream()
                .flatMap(List::stream)
                .flatMap(step -> step.incompatibility(pixels).stream())
                .findFirst();
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return apply(sample, SamplePool.NONE, random);
    }

    @Override
    public Sample apply(Sample sample, SamplePool others, SplittableRandom random) {
        List<Transform> branch = branches.get(random.nextInt(branches.size()));
        return Transform.applyAll(branch, sample, others, random);
    }
}
