package dev.saccade.datasets.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Finding;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

class DuplicateObjectsTest {

    private final AnnotationTable.Builder table =
            new AnnotationTable.Builder()
                    .addCategory(1, "cat")
                    .addCategory(2, "dog")
                    .addImage(1, "a.jpg", new Size(90, 90))
                    .addImage(2, "b.jpg", new Size(90, 90))
                    .addAnnotation(1, 1, Annotation.of(11, 0, 5, 5, 20, 20));

    private Optional<Finding> warning(Long... wanted) {
        return DuplicateObjects.warning(table.build(), "a.json", Set.of(wanted));
    }

    @Test
    void objectsOfAnotherImageClassOrBoxAreNotDuplicates() {
        table.addAnnotation(2, 1, Annotation.of(12, 0, 5, 5, 20, 20));
        table.addAnnotation(1, 2, Annotation.of(13, 0, 5, 5, 20, 20));
        table.addAnnotation(1, 1, Annotation.of(14, 0, 5, 5, 20, 21));

        assertEquals(Optional.empty(), warning(1L, 2L));
    }

    @Test
    void countsDuplicatesAndNamesOne() {
        for (int id = 20; id < 23; id++) {
            table.addAnnotation(2, 2, Annotation.of(id, 0, 7, 7, 9, 9));
        }

        String message = warning(1L, 2L).map(Finding::toString).orElse("no warning");

        assertTrue(message.contains("2 objects repeat"), message);
        assertTrue(
                message.contains("annotation 21 of image 2 (b.jpg) repeats annotation 20"),
                message);
        assertEquals(Optional.empty(), warning(1L), "dogs are not trained on");
    }

    @Test
    void objectCheckReportsDuplicates() {
        table.addAnnotation(1, 1, Annotation.of(12, 0, 5, 5, 20, 20));
        List<Finding> findings = new ArrayList<>();

        new ObjectCheck(table.build(), "a.json", Set.of(1L), Set.of()).check(findings::add);

        assertEquals(1, findings.size(), findings::toString);
        assertTrue(findings.get(0).message().contains("1 object repeats"), findings::toString);
    }
}
