package dev.saccade.train;

import static dev.saccade.train.HookFixtures.afterStep;
import static dev.saccade.train.HookFixtures.beforeStep;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.HookState;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.hooks.Run;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What is told of hooks that do what a hook must not: which one, and as early as can be. */
class HookErrorsTest {

    @TempDir private Path folder;
    private TinyRun.Photos photos;

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder.resolve("photos"));
    }

    private static String message(Runnable action) {
        SaccadeException e = assertThrows(SaccadeException.class, action::run);
        assertEquals(SaccadeException.Kind.USER, e.kind());
        return e.getMessage();
    }

    private static void assertContains(String part, String message) {
        assertTrue(message.contains(part), message);
    }

    private String failure(Hook... hooks) {
        TinyRun run = new TinyRun();
        for (Hook hook : hooks) {
            run.hook(hook);
        }
        RunConfig config = TinyRun.config(folder, "iterations=2");
        return message(() -> run.start(config, photos, folder.resolve("run")));
    }

    /** Has any name, and keeps something. */
    private record Named(String name, List<String> events) implements Hook {

        @Override
        public void beforeStep(Run run) {
            events.add("step");
        }

        @Override
        public void save(HookState state) {
            state.put("number", 1);
        }

        @Override
        public void close() {
            events.add("close");
        }
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"ema:slow", ":"})
    void rejectsAnInvalidNameBeforeWriting(String name) {
        List<String> events = new ArrayList<>();
        RunConfig config = TinyRun.config(folder);
        Path run = folder.resolve("run");
        Training training = Training.of(config, photos);
        String message = message(() -> training.start(run, new Named(name, events)));
        assertContains("HookErrorsTest$Named: got name " + name + ", expected", message);
        assertFalse(Files.exists(run));
        assertEquals(List.of("close"), events);
    }

    @Test
    void rejectsNull() {
        Training training = Training.of(TinyRun.config(folder), photos);
        Path run = folder.resolve("run");
        Hook sound = new Named("sound", new ArrayList<>());
        assertContains("hook 2 of 2 is null", message(() -> training.start(run, sound, null)));
        assertContains("hook 1 of 1 is null", message(() -> training.resume(run, (Hook) null)));
        assertFalse(Files.exists(run));
    }

    @Test
    void reportsAnInvalidStateBeforeTheFirstStep() {
        List<String> events = new ArrayList<>();
        assertContains(
                "hook mine: two hooks",
                failure(new Named("mine", events), new Named("mine", events)));
        assertEquals(List.of(), events);
    }

    static Stream<Consumer<Run>> nulls() {
        return Stream.of(
                run -> run.addMetric(null, 1), run -> run.log(null), run -> run.stop(null));
    }

    @ParameterizedTest
    @MethodSource("nulls")
    void namesTheHookThatPassesNull(Consumer<Run> action) {
        Hook mistaken = afterStep((run, step) -> action.accept(run));
        Hook bystander =
                new Hook() {
                    @Override
                    public void onLog(String line) {
                        assertFalse(line.isBlank());
                    }
                };
        String message = failure(bystander, mistaken);
        assertContains("hook " + mistaken.name() + ": failed in afterStep", message);
        assertContains(" is null", message);
    }

    static Stream<Error> errors() {
        return Stream.of(
                new NoClassDefFoundError("com/example/Missing"),
                new AssertionError("is not so"),
                new StackOverflowError());
    }

    @ParameterizedTest
    @MethodSource("errors")
    void errorsNameTheHook(Error error) {
        Hook fails =
                beforeStep(
                        (run, step) -> {
                            throw error;
                        });
        assertContains("hook " + fails.name() + ": failed in beforeStep: " + error, failure(fails));
    }

    @Test
    void reportsOutOfMemory() {
        Hook fails =
                beforeStep(
                        (run, step) -> {
                            throw new OutOfMemoryError("Java heap space");
                        });
        assertContains("out of memory: ", failure(fails));
    }

    /** Makes a hook by any means. */
    private record Making(Supplier<Hook> means) implements Hook.Config {

        @Override
        public Hook build() {
            return means.get();
        }
    }

    @Test
    void namesAConfigThatBuildsNoHookAndClosesEarlierHooks() {
        List<String> events = new ArrayList<>();
        Making sound = new Making(() -> new Named("sound", events));
        Making nothing = new Making(() -> null);
        Making failing =
                new Making(
                        () -> {
                            throw new NoClassDefFoundError("com/example/Missing");
                        });
        String name = Making.class.getName();
        assertContains(
                "hook " + name + ": build returned null",
                message(() -> Hooks.build(List.of(sound, nothing))));
        assertContains(
                "hook " + name + ": failed in build: java.lang.NoClassDefFoundError",
                message(() -> Hooks.build(List.of(sound, failing))));
        assertEquals(List.of("close", "close"), events);
    }
}
