package dev.saccade.eval;

import dev.saccade.datasets.CocoDataset;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.util.List;

/**
 * Times the evaluation of a result file, loading apart from measuring: {@code CocoMetricsBench
 * instances.json results.json threads [runs]}. No test.
 */
final class CocoMetricsBench {

    private static final Logger log = LoggerFactory.getLogger(CocoMetricsBench.class);

    private CocoMetricsBench() {}

    /** Runs in one process, so that the first run shows what a single evaluation costs. */
    public static void main(String[] args) {
        int threads = Integer.parseInt(args[2]);
        int runs = args.length > 3 ? Integer.parseInt(args[3]) : 1;
        for (int run = 0; run < runs; run++) {
            long start = System.nanoTime();
            CocoDataset dataset = CocoDataset.open(Path.of(args[0]), Path.of("images"), List.of());
            GroundTruth groundTruth = GroundTruth.of(dataset, IouType.BOX);
            Detections detections = CocoResults.read(Path.of(args[1]), dataset, IouType.BOX);
            long loaded = System.nanoTime();
            CocoMetrics metrics =
                    CocoMetrics.of(
                            groundTruth, detections, CocoParameters.official(IouType.BOX), threads);
            long measured = System.nanoTime();
            log.info(
                    "objects={} detections={} AP={} loadSeconds={} measureSeconds={}",
                    groundTruth.size(),
                    detections.size(),
                    metrics.values().get("AP"),
                    (loaded - start) / 1e9,
                    (measured - loaded) / 1e9);
        }
    }
}
