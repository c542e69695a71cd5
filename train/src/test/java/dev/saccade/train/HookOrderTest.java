package dev.saccade.train;

import static dev.saccade.train.HookFixtures.beforeStep;
import static dev.saccade.train.HookFixtures.scoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.HookFixtures.Recording;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Hooks;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** When hooks are called: the moments of a run of 4 steps an epoch, in order. */
class HookOrderTest {

    @TempDir private Path folder;
    private TinyRun.Photos photos;

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder.resolve("photos"));
    }

    @Test
    void areCalledInOrder() {
        RunConfig config = TinyRun.config(folder, "iterations=5");
        List<String> events = new ArrayList<>();
        new TinyRun()
                .hook(new Recording(events))
                .hook(beforeStep((run, step) -> events.add("second")))
                .validation(scoring(0.1, 0.2))
                .stopAfter(2)
                .start(config, photos, folder.resolve("run"));
        assertEquals(
                List.of(
                        "beforeTrain 0/0",
                        "beforeEpoch 0/0",
                        "beforeStep 0/0",
                        "second",
                        "afterStep 1/0",
                        "beforeStep 1/0",
                        "second",
                        "afterStep 2/0",
                        "afterTrain 2/0"),
                events);

        events.clear();
        new TinyRun()
                .hook(new Recording(events))
                .validation(scoring(0.1, 0.2))
                .resume(config, photos, folder.resolve("run"));
        assertEquals(
                List.of(
                        "beforeTrain 2/0",
                        "beforeStep 2/0",
                        "afterStep 3/0",
                        "beforeStep 3/0",
                        "afterStep 4/1",
                        "afterEpoch 4/1",
                        "beforeEvaluation 4/1",
                        "afterEvaluation 4/1",
                        "beforeEpoch 4/1",
                        "beforeStep 4/1",
                        "afterStep 5/1",
                        "beforeEvaluation 5/1",
                        "afterEvaluation 5/1",
                        "afterTrain 5/1"),
                events);
    }

    @Test
    void allAreClosedEvenIfOneFails() {
        List<String> closed = new ArrayList<>();
        Hook fails =
                new Hook() {
                    @Override
                    public void close() {
                        throw new IllegalStateException("stuck");
                    }
                };
        Hook last =
                new Hook() {
                    @Override
                    public void close() {
                        closed.add("last");
                    }
                };
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> new Hooks(List.of(fails, last)).close());
        assertTrue(e.getMessage().contains("failed in close"), e.getMessage());
        assertEquals(List.of("last"), closed);
    }
}
