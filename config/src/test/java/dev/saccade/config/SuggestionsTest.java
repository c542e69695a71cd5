package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Optional;

class SuggestionsTest {

    private static final List<String> TYPES =
            List.of("sgd", "adamw", "iou", "giou", "l1", "smooth_l1", "focal", "max_iou", "random");

    @ParameterizedTest
    @CsvSource({
        "sdg, sgd",
        "SGD, sgd",
        "AdamW, adamw",
        "smoothL1, smooth_l1",
        "SmoothL1Loss, smooth_l1",
        "L1Loss, l1",
        "IoULoss, iou",
        "GIoULoss, giou",
        "FocalLoss, focal",
        "MaxIoUAssigner, max_iou",
        "RandomSampler, random",
    })
    void findsSimilarNames(String name, String expected) {
        assertEquals(Optional.of(expected), Suggestions.find(name, TYPES));
        assertEquals("; did you mean " + expected + "?", Suggestions.suggestion(name, TYPES));
    }

    @Test
    void suggestsOnlySimilarNames() {
        assertEquals(Optional.empty(), Suggestions.find("transformer", TYPES));
        assertEquals("", Suggestions.suggestion("transformer", TYPES));
        assertEquals("", Suggestions.suggestion("sgd", List.of()));
    }
}
