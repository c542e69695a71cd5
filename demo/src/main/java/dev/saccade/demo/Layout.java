package dev.saccade.demo;

import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Where the things of a scene lie: some overlap and some are cut by the edge, but each stays
 * visible enough to be recognized.
 */
final class Layout {

    private static final double VISIBLE_WHEN_LAID = 0.7;
    private static final double VISIBLE_IN_THE_END = 0.6;
    private static final int ATTEMPTS = 30;

    private final Size size;
    private final double squash;
    private final List<Cutout> cutouts = new ArrayList<>();
    private final List<BitSet> masks = new ArrayList<>();
    private final List<Integer> labels = new ArrayList<>();

    Layout(Size size, double squash) {
        this.size = size;
        this.squash = squash;
    }

    /** Lays one more thing somewhere, unless no place is found for it. */
    void add(SplittableRandom random) {
        int label = random.nextInt(Thing.CLASSES.size());
        Thing thing = Thing.random(label, random);
        double radius = thing.radius().draw(random) * Math.min(size.height(), size.width());
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Cutout cutout =
                    new Cutout(
                            thing,
                            Range.draw(random, 0, size.width()),
                            Range.draw(random, 0, size.height()),
                            radius,
                            Range.draw(random, 0, 2 * Math.PI),
                            squash);
            if (fits(cutout)) {
                BitSet covered = pixels(cutout);
                masks.forEach(mask -> mask.andNot(covered));
                masks.add(covered);
                cutouts.add(cutout);
                labels.add(label);
                return;
            }
        }
    }

    /** Returns the things from the lowest to the topmost. */
    List<Cutout> cutouts() {
        return List.copyOf(cutouts);
    }

    /** Returns the labels and visible pixels of the things, in the order of {@link #cutouts}. */
    List<SceneObject> objects() {
        List<SceneObject> objects = new ArrayList<>();
        for (int i = 0; i < cutouts.size(); i++) {
            objects.add(SceneObject.trace(labels.get(i), masks.get(i), size));
        }
        return List.copyOf(objects);
    }

    private boolean fits(Cutout cutout) {
        BitSet covered = pixels(cutout);
        boolean fits = covered.cardinality() >= VISIBLE_WHEN_LAID * cutout.area();
        for (int i = 0; i < cutouts.size() && fits; i++) {
            BitSet visible = (BitSet) masks.get(i).clone();
            visible.andNot(covered);
            fits = visible.cardinality() >= VISIBLE_IN_THE_END * cutouts.get(i).area();
        }
        return fits;
    }

    /** Returns the pixels of the picture that a thing covers, row by row. */
    private BitSet pixels(Cutout cutout) {
        BitSet pixels = new BitSet(Math.toIntExact(size.area()));
        for (int y = 0; y < cutout.height(); y++) {
            int row = y + cutout.top();
            for (int x = 0; row >= 0 && row < size.height() && x < cutout.width(); x++) {
                int column = x + cutout.left();
                if (column >= 0 && column < size.width() && cutout.contains(x, y)) {
                    pixels.set(row * size.width() + column);
                }
            }
        }
        return pixels;
    }
}
