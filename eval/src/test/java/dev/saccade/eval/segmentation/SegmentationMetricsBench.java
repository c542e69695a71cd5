package dev.saccade.eval.segmentation;

import dev.saccade.core.Workers;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Times mIoU of generated label maps, for comparison with mmsegmentation: {@code
 * SegmentationMetricsBench MAPS HEIGHT WIDTH CLASSES THREADS}. Not a test.
 */
final class SegmentationMetricsBench {

    private static final Logger log = LoggerFactory.getLogger(SegmentationMetricsBench.class);
    private static final int DISTINCT = 50;

    private SegmentationMetricsBench() {}

    /** Runs three times and logs the times. */
    public static void main(String[] args) {
        int maps = Integer.parseInt(args[0]);
        Size size = new Size(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        int classes = Integer.parseInt(args[3]);
        List<LabelMap> truth =
                IntStream.range(0, DISTINCT).mapToObj(m -> map(size, classes, m, 0)).toList();
        List<LabelMap> predicted =
                IntStream.range(0, DISTINCT).mapToObj(m -> map(size, classes, m, 5)).toList();
        for (int run = 0; run < 3; run++) {
            long start = System.nanoTime();
            PixelConfusionMatrix pixels = new PixelConfusionMatrix(classes);
            try (Workers workers = new Workers("bench", Integer.parseInt(args[4]))) {
                workers.run(
                        maps,
                        () ->
                                i ->
                                        pixels.add(
                                                truth.get(i % DISTINCT),
                                                predicted.get(i % DISTINCT)));
            }
            SegmentationMetrics metrics =
                    SegmentationMetrics.compute(
                            Collections.nCopies(classes, "class"),
                            pixels,
                            new BoundaryIou(classes));
            double seconds = (System.nanoTime() - start) / 1e9;
            log.info("{} s {}", seconds, metrics.values());
        }
    }

    /** Returns cells of 37 x 29 pixels, shifted to the right; every 17th diagonal is ignored. */
    private static LabelMap map(Size size, int classes, int number, int moved) {
        short[] labels = new short[Math.toIntExact(size.area())];
        for (int y = 0; y < size.height(); y++) {
            for (int x = 0; x < size.width(); x++) {
                int cell = ((x + moved) / 37 * 13 + y / 29 * 7 + number) % classes;
                boolean ignored = moved == 0 && (x + y) % 17 == 0;
                labels[y * size.width() + x] = (short) (ignored ? LabelMap.IGNORE : cell);
            }
        }
        return LabelMap.of(size, labels);
    }
}
