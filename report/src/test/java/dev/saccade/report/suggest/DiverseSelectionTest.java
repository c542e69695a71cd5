package dev.saccade.report.suggest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageFile;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

class DiverseSelectionTest {

    private static final List<Candidate> IMAGES =
            List.of(
                    image("certain.png", 0.1, 0, 0, 9),
                    image("copy.png", 5, 9, 0.1, 0),
                    image("other.png", 3, 0, 9, 0),
                    image("uncertain.png", 6, 9, 0, 0));

    @Test
    void prefersUncertainImagesAndAvoidsNearDuplicates() {
        assertEquals(
                List.of("uncertain.png", "other.png"), names(DiverseSelection.select(IMAGES, 2)));
    }

    @Test
    void selectsAllImagesIfThereAreFewer() {
        assertEquals(4, DiverseSelection.select(IMAGES, 9).size());
        assertEquals(List.of(), DiverseSelection.select(List.of(), 9));
    }

    private static List<String> names(List<Candidate> images) {
        return images.stream().map(Candidate::name).toList();
    }

    private static Candidate image(String name, double uncertainty, double... embedding) {
        return new Candidate(
                name,
                new ImageFile(1, Path.of(name), new Size(8, 8)),
                uncertainty,
                "",
                ImmutableDoubleArray.copyOf(embedding),
                Optional.empty());
    }
}
