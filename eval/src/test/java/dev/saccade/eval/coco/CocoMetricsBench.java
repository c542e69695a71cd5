package dev.saccade.eval.coco;

import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.datasets.coco.CocoDataset;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Times the evaluation of a result file, or the loading of annotations, for comparison with
 * pycocotools: {@code CocoMetricsBench eval INSTANCES RESULTS BOX|MASK THREADS} or {@code
 * CocoMetricsBench load INSTANCES}. Not a test.
 */
final class CocoMetricsBench {

    private static final Logger log = LoggerFactory.getLogger(CocoMetricsBench.class);

    private final Map<String, Object> result = new LinkedHashMap<>();
    private long last = System.nanoTime();

    private CocoMetricsBench() {}

    /** Runs once, as a command does, and logs a JSON object. */
    public static void main(String[] args) throws IOException {
        CocoMetricsBench bench = new CocoMetricsBench();
        bench.result.put("what", String.join(" ", args));
        CocoDataset dataset = CocoDataset.open(Path.of(args[1]), Path.of("images"), List.of());
        bench.took("load_s");
        if (args[0].equals("eval")) {
            bench.evaluate(
                    dataset, Path.of(args[2]), IouType.valueOf(args[3]), Integer.parseInt(args[4]));
        }
        bench.result.put("peak_mb", peakMegabytes());
        log.info("{}", new ObjectMapper().writeValueAsString(bench.result));
    }

    private void evaluate(CocoDataset dataset, Path results, IouType iouType, int threads) {
        CocoDetections detections = CocoResults.read(results, dataset, iouType);
        took("results_s");
        GroundTruth groundTruth = GroundTruth.collect(dataset, iouType);
        took("ground_truth_s");
        CocoMetrics metrics =
                CocoMetrics.compute(
                        groundTruth, detections, CocoParameters.official(iouType), threads);
        Map<String, Double> values = metrics.values();
        took("metrics_s");
        result.put("AP", values.get(iouType.prefix() + "AP"));
    }

    private void took(String what) {
        long now = System.nanoTime();
        result.put(what, (now - last) / 1e9);
        last = now;
    }

    /** Returns the peak memory of this process on Linux. */
    private static double peakMegabytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) * 1024 / 1e6)
                .findFirst()
                .orElseThrow();
    }
}
