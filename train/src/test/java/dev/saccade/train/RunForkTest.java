package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class RunForkTest {

    @TempDir private Path folder;

    @BeforeEach
    void writeData() throws IOException {
        CellRun.writeData(folder);
    }

    private RunConfig config(int iterations, String... overrides) throws IOException {
        return CellRun.config(folder, overrides)
                .with(
                        "data.val=null",
                        "schedule={type: trapezoid, decay: 0.25, warmup: {iterations: 3}}",
                        "iterations=" + iterations);
    }

    private static byte[] last(Path run) throws IOException {
        return Files.readAllBytes(new RunFolder(run).last());
    }

    private static Hook stopAt(Training training, long iteration) {
        return new Hook() {
            @Override
            public void afterStep(Run run, StepReport step) {
                if (step.iteration() == iteration) {
                    training.stop();
                }
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"ema=null", "ema={warmup: 2}"})
    void trunkAndBranchEqualAnUninterruptedRun(String ema) throws IOException {
        Training trunk = Training.of(config(16, ema));
        Path run = folder.resolve("trunk");
        assertEquals(Outcome.INTERRUPTED, trunk.start(run, stopAt(trunk, 6)));
        Path branch = folder.resolve("branch");
        assertEquals(Outcome.FINISHED, Training.of(config(8, ema)).fork(run, branch));
        Path whole = folder.resolve("whole");
        Training.of(config(8, ema)).start(whole);
        assertArrayEquals(last(whole), last(branch));

        Training rest = Training.of(config(16, ema));
        assertEquals(Outcome.FINISHED, rest.resume(run));
        Path longer = folder.resolve("longer");
        Training.of(config(16, ema)).start(longer);
        assertArrayEquals(last(longer), last(run));
    }

    @Test
    void rejectsOtherLearningRatesAndSettings() throws IOException {
        Training trunk = Training.of(config(16));
        Path run = folder.resolve("trunk");
        trunk.start(run, stopAt(trunk, 8));
        SaccadeException rates =
                assertThrows(
                        SaccadeException.class,
                        () -> Training.of(config(8)).fork(run, folder.resolve("a")));
        assertTrue(
                rates.getMessage()
                        .startsWith(
                                "schedule trapezoid: the learning rate of step 8 was 1.0 times"),
                rates.getMessage());
        SaccadeException settings =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                Training.of(config(12, "optimizer.learning_rate=0.5"))
                                        .fork(run, folder.resolve("b")));
        assertTrue(
                settings.getMessage().contains("optimizer.learning_rate: was 0.001, is 0.5"),
                settings.getMessage());
        assertTrue(Files.notExists(folder.resolve("a")) && Files.notExists(folder.resolve("b")));
    }
}
