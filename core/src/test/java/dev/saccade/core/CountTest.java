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
        "1, photograph, 1 photograph",
        "12, photograph, 12 photographs",
        "3, batch, 3 batches",
        "16, epoch, 16 epochs"
    })
    void formatsSingularAndPlural(long number, String noun, String expected) {
        assertEquals(expected, Count.of(number, noun));
    }
}
