package dev.saccade.datasets.convert;

import dev.saccade.core.SeededRandom;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** Holds a share of photographs back, to measure on. */
public final class Split {

    private Split() {}

    /**
     * Moves images of train to val. Whether one is moved depends on the seed and its name alone, so
     * it stays where it is when others come; augmented copies of one image stay together. Only
     * where none or all would be moved, the closest one is treated differently.
     *
     * @param share the fraction that is moved, above 0 and below 1
     */
    public static ForeignLabels heldBack(ForeignLabels labels, double share, long seed) {
        List<String> sources =
                labels.photos(Part.TRAIN).stream().map(LabeledPhoto::source).distinct().toList();
        ToDoubleFunction<String> sample = source -> SeededRandom.of(seed, source).nextDouble();
        Comparator<String> bySample = Comparator.comparingDouble(sample);
        Set<String> held = new HashSet<>();
        sources.stream().filter(source -> sample.applyAsDouble(source) < share).forEach(held::add);
        if (sources.size() > 1 && held.isEmpty()) {
            sources.stream().min(bySample).ifPresent(held::add);
        } else if (sources.size() > 1 && held.size() == sources.size()) {
            sources.stream().max(bySample).ifPresent(held::remove);
        }
        return labels.with(
                labels.photos().stream()
                        .map(photo -> isHeld(photo, held) ? photo.of(Part.VAL) : photo)
                        .toList());
    }

    private static boolean isHeld(LabeledPhoto photo, Set<String> held) {
        return photo.part().orElse(Part.TRAIN) == Part.TRAIN && held.contains(photo.source());
    }
}
