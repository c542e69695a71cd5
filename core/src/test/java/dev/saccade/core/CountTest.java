package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CountTest {

    @ParameterizedTest
    @CsvSource({
        "0, class, 0 classes",
        "1, class, 1 class",
        "2, class, 2 classes",
        "1, prediction, 1 prediction",
        "12, prediction, 12 predictions",
        "3, batch, 3 batches",
        "16, epoch, 16 epochs"
    })
    void formatsSingularAndPlural(long number, String noun, String expected) {
        assertEquals(expected, Count.of(number, noun));
    }
}
