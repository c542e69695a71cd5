package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

class ReplaySelectionTest {

    /** Images with objects of these labels. */
    private record Labels(List<List<Integer>> labels) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("cup", "fork", "spoon");
        }

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, labels.size())
                    .mapToObj(i -> new ImageFile(i, Path.of(i + ".jpg"), new Size(64, 64)))
                    .toList();
        }

        @Override
        public List<Annotation> annotations(int index) {
            return labels.get(index).stream()
                    .map(label -> Annotation.of(0, label, 1, 1, 20, 20))
                    .toList();
        }
    }

    private static List<Integer> select(int count, List<List<Integer>> labels) {
        return ReplaySelection.select(new Labels(labels), count);
    }

    @Test
    void balancesClasses() {
        List<List<Integer>> labels =
                List.of(
                        List.of(0, 0, 0),
                        List.of(0),
                        List.of(0),
                        List.of(1),
                        List.of(0),
                        List.of(2));
        assertEquals(List.of(0, 3, 5), select(3, labels));
    }

    @Test
    void selectsAllImagesIfThereAreFewer() {
        List<List<Integer>> labels = List.of(List.of(0), List.of(), List.of(1));
        assertEquals(List.of(0, 2), select(2, labels));
        assertEquals(List.of(0, 2), select(1_000_000, labels));
    }

    @Test
    void prefersMoreClassesAndThenMoreObjects() {
        assertEquals(List.of(2), select(1, List.of(List.of(0, 0, 0), List.of(1), List.of(0, 1))));
        assertEquals(List.of(1), select(1, List.of(List.of(0), List.of(1, 1), List.of(2))));
    }

    @Test
    void selectsImagesWithObjectsOnly() {
        assertEquals(List.of(1), select(9, List.of(List.of(), List.of(0), List.of(-1))));
    }
}
