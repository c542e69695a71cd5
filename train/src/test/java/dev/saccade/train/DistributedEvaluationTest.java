package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.config.Configs;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.models.Detector;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Measures on several ranks, threads of this process, beside one that measures alone. */
@Timeout(300)
class DistributedEvaluationTest {

    @TempDir private Path folder;
    private Squares squares;

    @BeforeEach
    void draw() throws IOException {
        squares = Squares.draw(Files.createDirectories(folder.resolve("photos")), 9);
    }

    private static RunConfig config(String... settings) {
        return RunConfig.parse(DistributedTrainingTest.CONFIG).with(settings);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 8})
    void ranksEvaluateLikeOneRankBitForBit(int worldSize) {
        Training.of(config(), squares).start(folder.resolve("run"));
        try (Detector detector = Detector.load(new RunFolder(folder.resolve("run")).last())) {
            Map<String, Double> alone = DetectionEvaluator.evaluate(detector, squares).values();
            Object ranks =
                    Ranks.together(
                                    worldSize,
                                    group -> {
                                        DetectionEvaluator evaluator =
                                                Configs.of(DetectionEvaluator.Config.class)
                                                        .build(squares, TargetKind.BOXES, 1);
                                        new DatasetInference(squares, 1, group)
                                                .run(detector, evaluator, done -> {});
                                        return group.rank() > 0
                                                ? Map.of()
                                                : evaluator.evaluate().values();
                                    })
                            .get(0);
            assertEquals(alone, ranks);
        }
    }

    @Test
    void evaluatesSegmentationLikeOneRank() {
        Squares.Pixels pixels = new Squares.Pixels(List.of("gray", "square"), squares.images());
        RunConfig config =
                config(
                        "model.neck={type: fpn, out_channels: 8, num_outs: 4}",
                        "model.head={type: semantic_fpn, channels: 8}");
        List<Map<String, Double>> measured = new ArrayList<>();
        for (int worldSize : List.of(1, 3)) {
            Map<Integer, Map<String, Double>> byRank = new ConcurrentHashMap<>();
            List<Object> outcomes =
                    Ranks.together(
                            worldSize,
                            group ->
                                    Training.of(config, pixels, pixels)
                                            .on(group)
                                            .start(
                                                    folder.resolve("run" + worldSize),
                                                    measuring(group, byRank)));
            assertEquals(Collections.nCopies(worldSize, Outcome.STOPPED_EARLY), outcomes);
            assertEquals(worldSize, byRank.size());
            measured.addAll(byRank.values());
        }
        assertEquals(Collections.nCopies(4, measured.get(0)), measured);
    }

    private static Hook measuring(ProcessGroup group, Map<Integer, Map<String, Double>> byRank) {
        return new Hook() {
            @Override
            public void beforeTrain(Run run) {
                run.requestEvaluation();
                run.stop("measured");
            }

            @Override
            public void afterEvaluation(Run run, EvaluationReport report) {
                byRank.put(group.rank(), report.metrics());
            }
        };
    }
}
