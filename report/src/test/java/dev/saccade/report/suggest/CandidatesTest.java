package dev.saccade.report.suggest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.Iterables;

import dev.saccade.core.Text;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.testsupport.TestImages;
import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

class CandidatesTest {

    @TempDir Path folder;

    @Test
    void classifiesAnImageOnce() {
        Path file = folder.resolve("classifier.safetensors");
        TinyModel.CLASSIFIER.save(file, List.of("cat", "dog", "owl"));
        Path image = TestImages.write(folder.resolve("a.png"), 40, 30, 1);
        try (Classifier classifier = Classifier.load(file)) {
            List<ClassScore> scores = classifier.classify(image);
            double[] embedding = classifier.embedding(ImageSource.of(image));

            Classifier.Embedded both = classifier.classifyWithEmbedding(ImageSource.of(image));
            assertEquals(scores, both.classes());
            assertArrayEquals(embedding, both.embedding().toArray());

            Candidate candidate =
                    Iterables.getOnlyElement(
                            Candidates.of(
                                            classifier,
                                            folder,
                                            List.of(image),
                                            ScoreThresholds.DEFAULT,
                                            () -> {})
                                    .images());
            assertArrayEquals(embedding, candidate.embedding().toArray());
            String best =
                    Text.format(
                            "predicted %s (%.2f)", scores.get(0).label(), scores.get(0).score());
            assertEquals(best, candidate.reason().replaceFirst(" or .*", ""));
        }
    }
}
