package dev.saccade.datasets.convert;

import dev.saccade.core.SeededRandom;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Holds a share of photographs back, to measure on. */
public final class Split {

    private Split() {}

    /**
     * Returns labels of which a share of the photographs to learn from are held back. Whether one
     * is depends on the seed and its name alone, so it stays where it is when others come; only
     * where none or all would be held back, the one that is closest to it is moved.
     *
     * @param share the part that is held back, above 0 and below 1
     */
    public static ForeignLabels heldBack(ForeignLabels labels, double share, long seed) {
        List<LabeledPhoto> train = labels.photos(Part.TRAIN);
        Set<LabeledPhoto> held = new HashSet<>();
        train.stream().filter(photo -> draw(photo, seed) < share).forEach(held::add);
        Comparator<LabeledPhoto> byDraw = Comparator.comparingDouble(photo -> draw(photo, seed));
        if (train.size() > 1 && held.isEmpty()) {
            train.stream().min(byDraw).ifPresent(held::add);
        } else if (train.size() > 1 && held.size() == train.size()) {
            train.stream().max(byDraw).ifPresent(held::remove);
        }
        return labels.with(
                labels.photos().stream()
                        .map(photo -> held.contains(photo) ? photo.of(Part.VAL) : photo)
                        .toList());
    }

    private static double draw(LabeledPhoto photo, long seed) {
        return SeededRandom.of(seed, photo.name()).nextDouble();
    }
}
