package dev.saccade.eval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.datasets.transforms.Normalize;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;

import javax.imageio.ImageIO;

class DatasetInferenceTest {

    private static final int PHOTOS = 5;

    @TempDir private Path folder;
    private Dataset dataset;

    private record Photos(List<String> classes, List<ImageFile> images) implements Dataset {

        @Override
        public List<Annotation> annotations(int index) {
            return List.of();
        }
    }

    /** Collects predicted image widths. */
    private static class Widths implements Evaluator<Integer> {

        private final Map<Integer, Integer> seen = new ConcurrentSkipListMap<>();
        private final String name;

        Widths(String name) {
            this.name = name;
        }

        @Override
        public Set<String> metrics() {
            return Set.of(name);
        }

        @Override
        public void reset() {
            seen.clear();
        }

        @Override
        public void process(int index, Integer predicted) {
            seen.merge(index, predicted, Integer::sum);
        }

        @Override
        public Evaluation evaluate() {
            return () -> Map.of(name, seen.values().stream().mapToDouble(width -> width).sum());
        }
    }

    @BeforeEach
    void writePhotos() throws IOException {
        List<ImageFile> photos = new ArrayList<>();
        for (int i = 0; i < PHOTOS; i++) {
            Path file = folder.resolve(i + ".png");
            BufferedImage image = new BufferedImage(8 + i, 8, BufferedImage.TYPE_3BYTE_BGR);
            ImageIO.write(image, "png", file.toFile());
            photos.add(ImageFile.read(i, file));
        }
        dataset = new Photos(List.of("thing"), photos);
    }

    private static int width(InferenceInput photo) {
        return photo.batches().get(0).images().get(0).original().width();
    }

    private List<Integer> run(
            Function<InferenceInput, Integer> model, Evaluator<Integer> evaluator) {
        List<Integer> progress = new ArrayList<>();
        new DatasetInference(dataset, 2)
                .run(
                        new InferenceReader(List.of(List.of(Configs.of(Normalize.class)))),
                        model,
                        evaluator,
                        progress::add);
        return progress;
    }

    @Test
    void processesEveryImageOncePerRun() {
        Widths evaluator = new Widths("all");
        for (int time = 0; time < 2; time++) {
            assertEquals(List.of(1, 2, 3, 4, 5), run(DatasetInferenceTest::width, evaluator));
            assertEquals(Map.of(0, 8, 1, 9, 2, 10, 3, 11, 4, 12), evaluator.seen);
            assertEquals(Map.of("all", 50.0), evaluator.evaluate().values());
        }
    }

    @Test
    void evaluatorErrorsEndTheRun() {
        SaccadeException refusal = SaccadeException.user("the labels of 3.png are lost");
        Widths evaluator =
                new Widths("all") {
                    @Override
                    public void process(int index, Integer predicted) {
                        if (index == 3) {
                            throw refusal;
                        }
                    }
                };
        assertSame(
                refusal,
                assertThrows(
                        SaccadeException.class, () -> run(DatasetInferenceTest::width, evaluator)));
    }

    @Test
    void joinedEvaluatorsReceiveAllPredictions() {
        Widths one = new Widths("one");
        Widths other = new Widths("other");
        CompositeEvaluator<Integer> joined = new CompositeEvaluator<>(List.of(one, other));
        run(DatasetInferenceTest::width, joined);
        assertEquals(Map.of(0, 8, 1, 9, 2, 10, 3, 11, 4, 12), one.seen);
        assertEquals(one.seen, other.seen);
        assertEquals(Map.of("one", 50.0, "other", 50.0), joined.evaluate().values());
        assertEquals(Set.of("one", "other"), joined.metrics());
    }
}
