package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.ImmutableMap;

import org.junit.jupiter.api.Test;

import java.util.List;

class EnvCommandTest {

    @Test
    void alignsTheGpus() {
        String text =
                EnvCommand.text(
                        ImmutableMap.of(
                                "driver", "580.0", "gpus", List.of("first GPU", "second GPU")));

        assertEquals(
                List.of("driver       580.0", "gpus         first GPU", "             second GPU"),
                text.lines().toList());
    }

    @Test
    void printsNoneWithoutGpus() {
        assertEquals("gpus         none", EnvCommand.text(ImmutableMap.of("gpus", List.of())));
    }
}
