package dev.saccade.tune;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;

import dev.saccade.config.ConfigNode;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.TaskProgress;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

class TunerTest {

    private static final String BUDGET = "320steps";

    @TempDir Path folder;

    private final List<String> lines = new ArrayList<>();

    /** Runs jobs in this process; after some jobs, interrupts the next one after some time. */
    private static final class InProcess implements JobRunner {

        private final AtomicInteger jobsLeft;
        private final Duration delay;

        InProcess(int jobs, Duration delay) {
            jobsLeft = new AtomicInteger(jobs);
            this.delay = delay;
        }

        static InProcess uninterrupted() {
            return new InProcess(Integer.MAX_VALUE, Duration.ZERO);
        }

        @Override
        public int parallel() {
            return 1;
        }

        @Override
        public void stop() {
            jobsLeft.set(0);
        }

        @Override
        public boolean run(Path folder, List<String> jobs, Consumer<JobResult> finished) {
            JobFolder files = new JobFolder(folder);
            for (String name : jobs) {
                if (files.result(name).isPresent()) {
                    continue;
                }
                JobRun job = new JobRun(folder, name);
                if (jobsLeft.getAndDecrement() == 0) {
                    Thread stop =
                            new Thread(
                                    () -> {
                                        Uninterruptibles.sleepUninterruptibly(delay);
                                        job.stop();
                                    });
                    stop.start();
                }
                if (!job.run()) {
                    return false;
                }
                finished.accept(files.result(name).orElseThrow());
            }
            return true;
        }
    }

    private TuneSettings settings(String... search) {
        return new TuneSettings(
                TuneBudget.parse(BUDGET),
                Optional.of(4),
                Optional.of(2),
                0,
                List.of(search),
                List.of("head"),
                true,
                1);
    }

    private Optional<TuneResult> run(String name, JobRunner runner, boolean resume)
            throws IOException {
        return new Tuner(TinyData.config(folder), settings(), runner, lines::add)
                .run(folder.resolve(name), resume);
    }

    /** Returns the trials without times. */
    private String trials(String name) throws IOException {
        return Files.readString(folder.resolve(name).resolve("trials.jsonl"))
                .replaceAll("\"seconds\":[^,]*", "");
    }

    private static byte[] last(Path run) throws IOException {
        return Files.readAllBytes(new RunFolder(run).last());
    }

    @Test
    void monitorReportsJobsAndCancels() throws IOException {
        List<TaskProgress> jobs = new ArrayList<>();
        TaskMonitor monitor = new TaskMonitor(jobs::add);
        InProcess runner = InProcess.uninterrupted();
        Tuner tuner =
                new Tuner(
                        TinyData.config(folder),
                        settings(),
                        runner,
                        line -> {
                            if (jobs.size() == 2) {
                                monitor.cancel();
                            }
                        });
        assertEquals(Optional.empty(), tuner.run(folder.resolve("part"), false, monitor));
        assertEquals(2, jobs.size());
        assertEquals("jobs", jobs.get(1).unit());
    }

    @Test
    void continuesWithTheSameResult() throws IOException {
        TuneResult whole = run("whole", InProcess.uninterrupted(), false).orElseThrow();
        assertTrue(Files.readString(whole.report()).contains("Finalists"));
        TunePlan plan = TuneJson.read(folder.resolve("whole/plan.json"), TunePlan.class);
        assertEquals(List.of(4, 3), plan.rungs().sizes());
        assertEquals(List.of(10L, 31L), plan.trials().get(1).steps());

        // Stop in different jobs, some of them before and some within training.
        boolean done = false;
        int stops = 0;
        for (; !done; stops++) {
            InProcess runner = new InProcess(stops % 3, Duration.ofMillis(40L * stops));
            done = run("parts", runner, stops > 0).isPresent();
        }
        assertTrue(stops > 3, stops + " runs");
        assertEquals(trials("whole"), trials("parts"));
        for (String job :
                List.of("trial_001_rung_1", "trial_000_rung_2", "trial_000_fold_2", "final_best")) {
            Path predictions = Path.of("results", job + ".bbox.json");
            assertEquals(
                    -1,
                    Files.mismatch(
                            folder.resolve("whole").resolve(predictions),
                            folder.resolve("parts").resolve(predictions)),
                    job);
        }
        try (Stream<Path> runs = Files.list(folder.resolve("whole/runs"))) {
            for (Path run : runs.toList()) {
                boolean isFinal = run.getFileName().toString().startsWith("final");
                assertEquals(isFinal, Files.exists(new RunFolder(run).checkpoints()), run + "");
            }
        }
        assertEquals(
                Files.readString(whole.config()),
                Files.readString(folder.resolve("parts/best.yaml")));

        // A rung whose result is lost is trained again from the beginning.
        Files.delete(folder.resolve("parts/results/trial_001_rung_1.json"));
        deleteRun(folder.resolve("parts/runs/trial_001_rung_1"));
        run("parts", InProcess.uninterrupted(), true);
        assertEquals(trials("whole"), trials("parts"));
    }

    private static void deleteRun(Path run) throws IOException {
        try (Stream<Path> files = Files.walk(run)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void bestConfigTrainsToTheEvaluatedWeights() throws IOException {
        TuneResult result = run("search", InProcess.uninterrupted(), false).orElseThrow();
        RunConfig best = RunConfig.load(result.config());
        assertEquals("trapezoid", best.schedule().type());
        assertEquals(Optional.of(31L), best.iterations());
        Path run = folder.resolve("again");
        RunConfig evaluatedOnce = best.with("evaluation.every={iterations: 31}");
        assertEquals(Outcome.FINISHED, Training.of(evaluatedOnce).start(run));
        assertArrayEquals(last(folder.resolve("search/runs/final_best")), last(run));
        assertTrue(Files.readString(result.config()).contains("  # tuned"));
        assertTrue(
                result.conclusions().stream().anyMatch(line -> line.startsWith("On data.val")),
                result.conclusions().toString());
    }

    @Test
    void trialsOfClassifiersWarmUp() throws IOException {
        Tuner tuner =
                new Tuner(
                        TinyData.classifier(folder),
                        settings(),
                        InProcess.uninterrupted(),
                        lines::add);
        TuneResult result = tuner.run(folder.resolve("search"), false).orElseThrow();
        TunePlan plan = TuneJson.read(folder.resolve("search/plan.json"), TunePlan.class);
        for (TunePlan.Trial trial : plan.trials()) {
            String schedule =
                    "schedule={type: trapezoid, decay: 0.2, warmup: {iterations: 2, ratio: 0.1}}";
            assertTrue(trial.overrides().contains(schedule), trial.overrides().toString());
        }
        assertTrue(Files.readString(result.report()).contains("top1"));
    }

    @Test
    void continuesAfterIoErrors() throws IOException {
        run("whole", InProcess.uninterrupted(), false);
        assertFalse(run("parts", new InProcess(0, Duration.ZERO), false).isPresent());
        Path runs = folder.resolve("parts/runs");
        deleteRun(runs);
        Files.createFile(runs);
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> run("parts", InProcess.uninterrupted(), true));
        assertEquals(SaccadeException.Kind.IO, error.kind(), error.toString());
        Files.delete(runs);
        assertTrue(run("parts", InProcess.uninterrupted(), true).isPresent());
        assertEquals(trials("whole"), trials("parts"));
    }

    @Test
    void replacesDamagedFiles() throws IOException {
        run("whole", InProcess.uninterrupted(), false);
        run("parts", new InProcess(6, Duration.ofMillis(100)), false);
        int damaged = 0;
        try (Stream<Path> files = Files.walk(folder.resolve("parts"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString();
                boolean isJob =
                        file.getParent().endsWith("jobs") && name.equals("trial_000_rung_2.json");
                if (isJob || name.equals("last.safetensors")) {
                    Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 10));
                    damaged++;
                }
            }
        }
        assertTrue(damaged > 1, damaged + " files");
        assertTrue(run("parts", InProcess.uninterrupted(), true).isPresent());
        assertEquals(trials("whole"), trials("parts"));
        Path result = folder.resolve("parts/results/trial_000_rung_1.json");
        for (String text : List.of("null", "{}", "{\"name\": null}")) {
            Files.writeString(result, text);
            SaccadeException error =
                    assertThrows(
                            SaccadeException.class,
                            () -> run("parts", InProcess.uninterrupted(), true));
            assertTrue(error.getMessage().contains("damaged file"), error.getMessage());
        }
    }

    @Test
    void failedTrialsDoNotEndTheSearch() throws IOException {
        Tuner tuner =
                new Tuner(
                        TinyData.config(folder),
                        settings("init_from=[missing.safetensors]"),
                        InProcess.uninterrupted(),
                        lines::add);
        TuneResult result = tuner.run(folder.resolve("search"), false).orElseThrow();
        String report = Files.readString(result.report());
        assertTrue(report.contains("missing.safetensors: no such file"), report);
        assertTrue(
                lines.stream().anyMatch(line -> line.contains("failed: missing.safetensors")),
                lines.toString());
    }

    @Test
    void rejectsOtherSettingsAndSmallBudgets() throws IOException {
        run("search", new InProcess(0, Duration.ZERO), false);
        Tuner other =
                new Tuner(
                        TinyData.config(folder),
                        settings("ema=[{}]"),
                        InProcess.uninterrupted(),
                        lines::add);
        SaccadeException changed =
                assertThrows(
                        SaccadeException.class, () -> other.run(folder.resolve("search"), true));
        assertTrue(
                changed.getMessage()
                        .contains(
                                "was started with another config, other settings or other labels; got \"search\" : ["),
                changed.getMessage());
        Path settings = folder.resolve("search/settings.txt");
        Files.writeString(settings, Files.readString(settings).replace(",\n", "\n"));
        assertThrows(
                SaccadeException.class,
                () -> run("search", InProcess.uninterrupted(), true),
                "lines that differ only in a comma");
        SaccadeException full =
                assertThrows(
                        SaccadeException.class, () -> other.run(folder.resolve("search"), false));
        assertTrue(full.getMessage().contains("not empty"), full.getMessage());
        Tuner small =
                new Tuner(
                        TinyData.config(folder),
                        TuneSettings.of(TuneBudget.parse("100steps")),
                        InProcess.uninterrupted(),
                        lines::add);
        SaccadeException budget =
                assertThrows(
                        SaccadeException.class, () -> small.run(folder.resolve("small"), false));
        assertTrue(
                budget.getMessage().startsWith("budget: got 100 steps, expected at least about "),
                budget.getMessage());
        try (Stream<Path> files = Files.list(folder.resolve("small"))) {
            assertEquals(List.of(), files.toList(), "another budget can use the folder");
        }
    }

    @Test
    void rejectsFoldsAndSearchesBeforeItCreatesTheFolder() throws IOException {
        TuneSettings none =
                new TuneSettings(
                        TuneBudget.parse(BUDGET),
                        Optional.empty(),
                        Optional.of(0),
                        0,
                        List.of(),
                        List.of(),
                        true,
                        1);
        Tuner tuner =
                new Tuner(TinyData.config(folder), none, InProcess.uninterrupted(), lines::add);
        SaccadeException error =
                assertThrows(
                        SaccadeException.class, () -> tuner.run(folder.resolve("search"), false));
        assertTrue(error.getMessage().startsWith("folds: got 0"), error.getMessage());
        assertFalse(Files.exists(folder.resolve("search")));
        TuneSettings wrong = settings("optimizer.decay=[1]");
        ConfigNode.Mapping config = TinyData.config(folder);
        assertThrows(
                SaccadeException.class,
                () -> new Tuner(config, wrong, InProcess.uninterrupted(), lines::add));
    }
}
