package dev.saccade.report.runs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;

import com.google.common.collect.Comparators;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.TaskProgress;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.models.Detector;
import dev.saccade.report.predictions.Pictures;
import dev.saccade.report.predictions.PredictionWriter;
import dev.saccade.report.predictions.Predictions;
import dev.saccade.testsupport.TestImages;
import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;

class EvaluationStreamsTest {

    private static final int IMAGES = 9;

    @TempDir private Path folder;
    private Dataset dataset;
    private Path checkpoint;

    private record Images(List<String> classes, List<ImageFile> images) implements Dataset {

        @Override
        public List<Annotation> annotations(int index) {
            return List.of();
        }
    }

    private static class Collected implements Evaluator<Instances> {

        final Map<Integer, Instances> predictions = new ConcurrentSkipListMap<>();

        @Override
        public Set<String> metrics() {
            return Set.of();
        }

        @Override
        public void reset() {
            predictions.clear();
        }

        @Override
        public void process(int index, Instances predicted) {
            predictions.put(index, predicted);
        }

        @Override
        public Evaluation evaluate() {
            return Map::of;
        }
    }

    @BeforeEach
    void prepare() throws IOException {
        List<ImageFile> images = new ArrayList<>();
        for (int i = 0; i < IMAGES; i++) {
            byte[] png = TestImages.encode("png", 64 + 16 * i, 96, i);
            images.add(ImageFile.read(i, Files.write(folder.resolve(i + ".png"), png)));
        }
        dataset = new Images(List.of("box"), images);
        checkpoint = TinyModel.RETINANET.save(folder.resolve("a.safetensors"), dataset.classes());
    }

    @Test
    void predictionsEqualThoseOfOneImageAtATime() {
        Collected expected = new Collected();
        Collected found = new Collected();
        List<Integer> progress = new ArrayList<>();
        try (Detector detector = Detector.load(checkpoint, Device.cpu())) {
            DatasetInference inference = new DatasetInference(dataset, 1);
            inference.run(detector.reader(), detector::predict, expected, done -> {});
            inference.run(detector, found, progress::add);
        }
        assertEquals(expected.predictions.keySet(), found.predictions.keySet());
        expected.predictions.forEach(
                (index, one) -> {
                    Instances other = found.predictions.get(index);
                    assertArrayEquals(one.scores(), other.scores());
                    assertEquals(one.boxes(), other.boxes());
                });
        assertTrue(Comparators.isInOrder(progress, Comparator.naturalOrder()), "" + progress);
        assertEquals(IMAGES, progress.get(progress.size() - 1));
    }

    @Test
    void monitorReportsImagesAndCancels() throws IOException {
        List<TaskProgress> progress = new ArrayList<>();
        TaskMonitor whole = new TaskMonitor(progress::add);
        TaskMonitor[] part = new TaskMonitor[1];
        part[0] = new TaskMonitor(each -> part[0].cancel());
        List<Path> files = dataset.images().stream().map(ImageFile::file).toList();
        Predictions all = new Predictions();
        Predictions some = new Predictions();
        try (Detector detector = Detector.load(checkpoint, Device.cpu());
                OutputFolder out =
                        OutputFolder.create(folder.resolve("out"), "predict", false, List.of());
                OutputFolder cancelled =
                        OutputFolder.create(
                                folder.resolve("cancelled"), "predict", false, List.of())) {
            DetectionEvaluator.evaluate(detector, dataset, whole);
            TaskProgress last = progress.get(progress.size() - 1);
            assertEquals(IMAGES, last.done());
            assertEquals(IMAGES, last.total());
            assertEquals("evaluate", last.task());
            assertThrows(
                    TaskCancelledException.class,
                    () -> DetectionEvaluator.evaluate(detector, dataset, part[0]));
            Pictures pictures = new Pictures(out, detector.classes());
            PredictionWriter writer = new PredictionWriter(detector, pictures);
            all.addAll(files, writer, whole);
            assertEquals("predict", progress.get(progress.size() - 1).task());
            part[0] = new TaskMonitor(each -> part[0].cancel());
            Pictures others = new Pictures(cancelled, detector.classes());
            PredictionWriter again = new PredictionWriter(detector, others);
            assertThrows(TaskCancelledException.class, () -> some.addAll(files, again, part[0]));
        }
        assertEquals(IMAGES, all.entries().size());
        int finished = some.entries().size();
        assertTrue(finished > 0 && finished < IMAGES, finished + " images");
    }

    @Test
    void rethrowsErrorsOfEvaluatorsAndProgress() {
        IllegalStateException error = new IllegalStateException("3");
        Evaluator<Instances> failing =
                new Collected() {
                    @Override
                    public void process(int index, Instances predicted) {
                        if (index == 3) {
                            throw error;
                        }
                    }
                };
        TaskCancelledException stop = new TaskCancelledException();
        try (Detector detector = Detector.load(checkpoint, Device.cpu())) {
            DatasetInference inference = new DatasetInference(dataset, 1);
            assertSame(
                    error,
                    assertThrows(
                            IllegalStateException.class,
                            () -> inference.run(detector, failing, done -> {})));
            assertSame(
                    stop,
                    assertThrows(
                            TaskCancelledException.class,
                            () ->
                                    inference.run(
                                            detector,
                                            new Collected(),
                                            done -> {
                                                throw stop;
                                            })));
        }
    }
}
