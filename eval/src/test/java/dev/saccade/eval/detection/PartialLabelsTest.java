package dev.saccade.eval.detection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.config.Configs;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.combined.ConcatDataset;
import dev.saccade.datasets.combined.PartiallyLabeledDataset;
import dev.saccade.eval.coco.ClassMetrics;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** The AP of a class is its AP on the images that are labeled for it. */
class PartialLabelsTest {

    private static final Size SIZE = new Size(60, 80);
    private static final List<String> ALL = List.of("cup", "spoon");

    /** Images with random boxes of one class, each with its mask. */
    private record Scenes(String name, int count, long seed) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of(name);
        }

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, count)
                    .mapToObj(i -> new ImageFile(i, Path.of(name + i), SIZE))
                    .toList();
        }

        @Override
        public List<Annotation> annotations(int index) {
            SplittableRandom random = new SplittableRandom(seed + index);
            return IntStream.range(0, 3)
                    .mapToObj(
                            i ->
                                    Annotation.of(
                                            10L * index + i,
                                            0,
                                            Rle.fromBox(
                                                    SIZE,
                                                    random.nextInt(50),
                                                    random.nextInt(40),
                                                    20,
                                                    12)))
                    .toList();
        }
    }

    private static List<ClassMetrics> evaluate(
            Dataset dataset, List<Instances> predictions, int k) {
        DetectionEvaluator evaluator =
                Configs.of(DetectionEvaluator.Config.class).build(dataset, TargetKind.MASKS, 1);
        for (int i = 0; i < dataset.size(); i++) {
            evaluator.process(i, predictions.get(i));
        }
        return evaluator.evaluate().metrics().get(k).perClass();
    }

    /** Returns shifted labels, and as many random boxes, as detections of a class. */
    private static Instances detections(Dataset dataset, int index, int label) {
        SplittableRandom random = new SplittableRandom(index);
        List<Instances> all = new ArrayList<>();
        for (Annotation each : dataset.annotations(index)) {
            for (double dx : new double[] {3 * random.nextDouble(), 40 * random.nextDouble()}) {
                double x = Math.min(58, each.box().x() + dx);
                double y = each.box().y();
                Rle mask = Rle.fromBox(SIZE, x, y, 20, 12);
                Boxes box =
                        Boxes.of(
                                (float) x, (float) y, (float) Math.min(80, x + 20), (float) y + 12);
                float score = (float) random.nextDouble();
                all.add(
                        Instances.predicted(box, new int[] {label}, new float[] {score})
                                .withMasks(List.of(mask)));
            }
        }
        return Instances.merge(all, 1);
    }

    @Test
    void classesAreEvaluatedOnTheirImagesOnly() {
        Dataset cups = new Scenes("cup", 5, 1);
        Dataset spoons = new Scenes("spoon", 4, 99);
        Dataset both =
                new ConcatDataset(
                        List.of(
                                new PartiallyLabeledDataset(cups, ALL, List.of("cup")),
                                new PartiallyLabeledDataset(spoons, ALL, List.of("spoon"))),
                        List.of());
        List<Instances> ofCups = new ArrayList<>();
        List<Instances> ofSpoons = new ArrayList<>();
        List<Instances> ofBoth = new ArrayList<>();
        for (int i = 0; i < both.size(); i++) {
            Dataset part = i < 5 ? cups : spoons;
            int index = i < 5 ? i : i - 5;
            Instances found = detections(part, index, 0);
            (i < 5 ? ofCups : ofSpoons).add(found);
            ofBoth.add(Instances.merge(List.of(found, detections(part, index, 1)), 1));
        }
        for (int k = 0; k < 2; k++) {
            List<ClassMetrics> metrics = evaluate(both, ofBoth, k);
            assertEquals(evaluate(cups, ofCups, k).get(0).ap(), metrics.get(0).ap(), 1e-12);
            assertEquals(evaluate(spoons, ofSpoons, k).get(0).ap(), metrics.get(1).ap(), 1e-12);
            assertEquals(15, metrics.get(0).objects());
        }
    }
}
