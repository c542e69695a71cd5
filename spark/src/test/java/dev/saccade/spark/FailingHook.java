package dev.saccade.spark;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Fails after a step of a rank, as often as there are files in a folder, of which it takes one. */
final class FailingHook implements Hook {

    /** In which way. */
    enum Way {
        /** A mistake of the user. */
        MISTAKE,
        /** What may go better at another time. */
        MISFORTUNE,
        /** {@code kill -9} of the process. */
        KILL
    }

    @Component("failing")
    record Config(Way way, int rank, long step, Path times) implements Hook.Config {

        @Override
        public Hook build() {
            return new FailingHook(this);
        }
    }

    /** Tells executors of the hook. */
    public static final class Parts implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(Config.class);
        }
    }

    private final Config config;

    private FailingHook(Config config) {
        this.config = config;
    }

    @Override
    public void afterStep(Run run, StepReport step) {
        if (run.ranks().rank() == config.rank
                && step.iteration() == config.step
                && isTaken(config.times)) {
            fail();
        }
    }

    private static boolean isTaken(Path folder) {
        try (var left = Files.list(folder)) {
            Path file = left.findAny().orElse(folder.resolve("none"));
            return Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void fail() {
        switch (config.way) {
            case MISTAKE -> throw SaccadeException.user("a mistake");
            case MISFORTUNE -> throw SaccadeException.io(null, "a misfortune");
            case KILL -> kill();
        }
    }

    private static void kill() {
        String pid = Long.toString(ProcessHandle.current().pid());
        try {
            new ProcessBuilder("kill", "-9", pid).start().waitFor();
            Thread.sleep(60_000);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
