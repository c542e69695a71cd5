package dev.saccade.parity;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.classification.MixupCutmix;
import dev.saccade.datasets.classification.PixelErasing;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Mixup, CutMix and random erasing with recorded random values. */
final class BatchAugmentKind implements Kind {

    private static final Tolerance TARGETS = Tolerance.absolute(1e-6);

    private interface Change {

        void apply(Settings draw, BatchAugment.Images batch);
    }

    private final Change change;

    private BatchAugmentKind(Change change) {
        this.change = change;
    }

    static BatchAugmentKind mixup() {
        return new BatchAugmentKind(
                (draw, batch) -> {
                    List<Double> fractions = draw.numbers("fractions");
                    List<List<Double>> centers = draw.lists("centers");
                    Size size = batch.size();
                    for (int i = 0; i < fractions.size(); i++) {
                        // The middle of a pixel, as centers are relative to the image.
                        MixupCutmix.Mix mix =
                                new MixupCutmix.Mix(
                                        fractions.get(i),
                                        draw.flag("cutmix"),
                                        (centers.get(i).get(0) + 0.5) / size.height(),
                                        (centers.get(i).get(1) + 0.5) / size.width());
                        MixupCutmix.mix(batch, i, batch.count() - 1 - i, mix);
                    }
                });
    }

    static BatchAugmentKind erasing() {
        PixelErasing erasing =
                Configs.of(PixelErasing.class, Map.of("mode", PixelErasing.Mode.CONST));
        return new BatchAugmentKind(
                (draw, batch) -> {
                    for (List<Double> values : draw.lists("patches")) {
                        int[] patch = values.stream().mapToInt(Double::intValue).toArray();
                        erasing.erase(
                                batch,
                                patch[0],
                                new PixelErasing.Patch(patch[1], patch[2], patch[3], patch[4]),
                                new SplittableRandom(0));
                    }
                });
    }

    @Override
    public void run(Case recorded) {
        NumpyArray pixels = recorded.array("batch");
        Size size = new Size(pixels.size(2), pixels.size(3));
        int[] labels =
                recorded.has("labels") ? recorded.array("labels").ints() : new int[pixels.size(0)];
        List<Settings> draws = recorded.settings().objects("draws");
        for (int k = 0; k < draws.size(); k++) {
            List<ClassTarget> targets =
                    new ArrayList<>(Arrays.stream(labels).mapToObj(ClassTarget::of).toList());
            FloatBuffer buffer = FloatBuffer.wrap(pixels.floats());
            change.apply(draws.get(k), new BatchAugment.Images(buffer, size, targets));
            recorded.compare(
                    "out" + k,
                    NumpyArray.of(buffer.array()).reshape(pixels.shape()),
                    Tolerance.EXACT);
            if (recorded.has("target" + k)) {
                int classes = recorded.settings().integer("num_classes");
                recorded.compare("target" + k, distributions(targets, classes), TARGETS);
            }
        }
    }

    private static NumpyArray distributions(List<ClassTarget> targets, int classes) {
        double[] values = new double[targets.size() * classes];
        for (int i = 0; i < targets.size(); i++) {
            ClassTarget target = targets.get(i);
            values[i * classes + target.label()] += target.weight();
            values[i * classes + target.other()] += 1 - target.weight();
        }
        return NumpyArray.of(values).reshape(targets.size(), classes);
    }
}
