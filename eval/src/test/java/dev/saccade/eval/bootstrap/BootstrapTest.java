package dev.saccade.eval.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.RandomScene;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.segmentation.PixelCounts;
import dev.saccade.eval.segmentation.SegmentationEvaluator;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class BootstrapTest {

    private static final RandomScene SCENE = new RandomScene();

    private interface Copies {
        int of(long imageId);
    }

    /** Copies detections with distinct scores, because copies of an image reorder equal scores. */
    private static CocoDetections distinct(CocoDetections detections, Copies copies) {
        CocoDetections.Builder builder = new CocoDetections.Builder();
        for (int d = 0; d < detections.size(); d++) {
            long id = detections.imageId(d);
            for (int copy = 0; copy < copies.of(id); copy++) {
                builder.add(
                        100 * id + copy,
                        detections.label(d),
                        detections.box(d),
                        detections.score(d) - 1e-6 * d);
            }
        }
        return builder.build();
    }

    private static CocoMetrics metrics(Copies copies) {
        MemoryDataset dataset = new MemoryDataset("a", "b", "c", "d", "e");
        for (int i = 0; i < SCENE.dataset.size(); i++) {
            long id = SCENE.dataset.image(i).id();
            for (int copy = 0; copy < copies.of(id); copy++) {
                dataset.addImage(100 * id + copy);
                for (Annotation each : SCENE.dataset.annotations(i)) {
                    Annotation.Bbox box = each.box();
                    if (each.crowd()) {
                        dataset.crowd(each.label(), box.x(), box.y(), box.width(), box.height());
                    } else {
                        dataset.object(
                                each.label(),
                                box.x(),
                                box.y(),
                                box.width(),
                                box.height(),
                                each.area());
                    }
                }
            }
        }
        return CocoMetrics.compute(
                GroundTruth.collect(dataset, IouType.BOX),
                distinct(SCENE.boxes.build(), copies),
                CocoParameters.official(IouType.BOX),
                1);
    }

    private static long[] sortedIds() {
        return SCENE.dataset.images().stream().mapToLong(ImageFile::id).sorted().toArray();
    }

    @Test
    void equalsTheMetricsOfCopiedImages() {
        long[] ids = sortedIds();
        CocoMetrics whole = metrics(id -> 1);
        SplittableRandom random = SeededRandom.of(5);
        for (int round = 0; round < 20; round++) {
            int[] counts = new int[ids.length];
            for (int i = 0; i < ids.length; i++) {
                counts[random.nextInt(ids.length)]++;
            }
            CocoMetrics copied = metrics(id -> counts[Arrays.binarySearch(ids, id)]);
            for (String name : List.of("AP", "AP50", "AP75")) {
                assertEquals(
                        copied.values().get(name),
                        whole.resampled(name).orElseThrow().value(counts),
                        1e-12,
                        name);
            }
        }
        assertTrue(whole.resampled("mask_AP").isEmpty() && whole.resampled("AR@1").isEmpty());
    }

    @Test
    void intervalsContainTheValueAndRepeat() {
        ResampledMetric ap = metrics(id -> 1).resampled("AP").orElseThrow();
        Bootstrap.Samples samples = new Bootstrap(200, 3).sample(ap);
        Bootstrap.Interval interval = samples.interval();
        assertEquals(metrics(id -> 1).values().get("AP"), interval.value(), 1e-12);
        assertTrue(interval.low() < interval.value() && interval.value() < interval.high());
        assertEquals(samples.resampled(), new Bootstrap(200, 3).sample(ap).resampled());
        assertFalse(samples.minus(samples).isSignificant());
    }

    @Test
    void differencesArePaired() {
        // Image i has score i in one model and i + 1 in the other: each resample differs by 1.
        Bootstrap bootstrap = new Bootstrap(500, 0);
        Bootstrap.Samples low = bootstrap.sample(mean(0));
        Bootstrap.Samples high = bootstrap.sample(mean(1));
        Bootstrap.Interval difference = high.minus(low);
        assertEquals(1, difference.value(), 1e-12);
        assertEquals(1, difference.low(), 1e-12);
        assertEquals(1, difference.high(), 1e-12);
        assertTrue(difference.isAboveZero());
        // The standard error of a mean of 0 to 99 is 2.9.
        Bootstrap.Interval single = low.interval();
        assertEquals(2 * 1.96 * 2.89, single.high() - single.low(), 1.5);
    }

    private static ResampledMetric mean(double offset) {
        return new ResampledMetric() {
            @Override
            public int images() {
                return 100;
            }

            @Override
            public double value(int[] counts) {
                return IntStream.range(0, counts.length)
                                .mapToDouble(i -> counts[i] * (i + offset))
                                .sum()
                        / counts.length;
            }
        };
    }

    private record Maps(List<LabelMap> maps) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("sky", "road", "car");
        }

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, maps.size())
                    .mapToObj(i -> new ImageFile(9 - i, Path.of(i + ".png"), maps.get(i).size()))
                    .toList();
        }

        @Override
        public LabelMap labels(int index) {
            return maps.get(index);
        }
    }

    @Test
    void resamplesMeanIou() {
        SplittableRandom random = SeededRandom.of(1);
        List<LabelMap> truth = IntStream.range(0, 4).mapToObj(i -> map(random)).toList();
        List<LabelMap> predicted = IntStream.range(0, 4).mapToObj(i -> map(random)).toList();
        PixelCounts.Counter counter = new PixelCounts.Counter(new Maps(truth));
        IntStream.range(0, 4).forEach(i -> counter.process(i, predicted.get(i)));
        ResampledMetric metric = PixelCounts.meanIou(counter.counts());
        // Ids descend, so count 3 is of the first map.
        int[] copies = {3, 3, 1, 1, 1};
        SegmentationEvaluator copied =
                new SegmentationEvaluator(
                        new Maps(Arrays.stream(copies).mapToObj(truth::get).toList()));
        for (int i = 0; i < copies.length; i++) {
            copied.process(i, predicted.get(copies[i]));
        }
        assertEquals(
                copied.evaluate().values().get("mIoU"),
                metric.value(new int[] {2, 0, 3, 0}),
                1e-12);
    }

    private static LabelMap map(SplittableRandom random) {
        short[] labels = new short[64];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = (short) (random.nextInt(4) - 1);
        }
        return LabelMap.of(new Size(8, 8), labels);
    }
}
