package dev.saccade.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.ObjectStatistics;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class JsonOptionTest {

    @Test
    void statisticsAreOneFlatJsonObject() throws JsonProcessingException {
        ObjectStatistics held =
                new ObjectStatistics(
                        3,
                        1,
                        new ObjectStatistics.Counts(5, 2, 3, 3),
                        new ObjectStatistics.Density(2, 1),
                        Map.of("cat", 5),
                        Map.of("below 8 px", 5));
        assertEquals(
                List.of(
                        "images",
                        "images_without_boxes",
                        "boxes",
                        "crowds",
                        "usable",
                        "trained",
                        "max_objects",
                        "boxes_per_class",
                        "boxes_per_size"),
                ImmutableList.copyOf(
                        new ObjectMapper().readTree(JsonOption.text(held)).fieldNames()));
    }
}
