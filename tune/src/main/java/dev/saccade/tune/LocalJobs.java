package dev.saccade.tune;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.ThisProgram;
import dev.saccade.core.Workers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Runs jobs as processes on this machine. Each process has the same number of threads, so results
 * are equal bit for bit for any number of parallel processes.
 */
public final class LocalJobs implements JobRunner {

    /** Attempts of a job whose process is killed, for example by the system without memory. */
    private static final int MAX_ATTEMPTS = 3;

    private static final int SECONDS_TO_END = 70;
    private static final String THREADS = "OMP_NUM_THREADS";

    private final int parallel;
    private final int threads;
    private final Set<Process> processes = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    /**
     * Creates a runner.
     *
     * @param parallel number of processes
     * @param threads number of CPU threads of each process
     */
    public LocalJobs(int parallel, int threads) {
        this.parallel = parallel;
        this.threads = threads;
    }

    @Override
    public int parallel() {
        return parallel;
    }

    @Override
    public void stop() {
        stopped = true;
        processes.forEach(Process::destroy);
    }

    @Override
    public boolean run(Path folder, List<String> jobs, Consumer<JobResult> finished) {
        JobFolder files = new JobFolder(folder);
        List<Callable<Boolean>> tasks =
                jobs.stream()
                        .filter(job -> files.result(job).isEmpty())
                        .<Callable<Boolean>>map(job -> () -> runAndReport(files, job, finished))
                        .toList();
        try (Workers workers = new Workers("saccade-jobs", parallel)) {
            workers.run(tasks, done -> {});
        } finally {
            end();
        }
        return jobs.stream().allMatch(job -> files.result(job).isPresent());
    }

    private boolean runAndReport(JobFolder files, String job, Consumer<JobResult> finished) {
        boolean done = run(files, job);
        if (done) {
            report(files, job, finished);
        }
        return done;
    }

    private synchronized void report(JobFolder files, String job, Consumer<JobResult> finished) {
        files.result(job).ifPresent(finished);
    }

    /** Runs a job until it has a result; returns false if stopped. */
    private boolean run(JobFolder files, String job) {
        long start = System.nanoTime();
        int code = 0;
        for (int attempt = 0; attempt < MAX_ATTEMPTS && !stopped; attempt++) {
            code = runOnce(files, job);
            if (files.result(job).isPresent()) {
                return true;
            }
            if (code == SaccadeException.Kind.IO.exitCode()) {
                throw SaccadeException.io(
                        null, "%s: %s; then resume the work", job, lastLine(files, job));
            }
        }
        if (stopped) {
            return false;
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        TuneJson.write(
                files.resultFile(job), JobResult.failed(job, seconds, failure(files, job, code)));
        return true;
    }

    private int runOnce(JobFolder files, String job) {
        ProcessBuilder builder = new ProcessBuilder(command(files, job)).redirectErrorStream(true);
        builder.redirectOutput(
                ProcessBuilder.Redirect.appendTo(files.log(job).toAbsolutePath().toFile()));
        builder.environment().put(THREADS, Integer.toString(threads));
        try {
            Process process = builder.start();
            processes.add(process);
            if (stopped) {
                process.destroy();
            }
            int code = process.waitFor();
            processes.remove(process);
            return code;
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s cannot be started: %s", job, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while jobs run", e);
        }
    }

    private List<String> command(JobFolder files, String job) {
        return ThisProgram.command(
                JobMain.class,
                List.of(
                        "-XX:ActiveProcessorCount=" + threads,
                        "-Dai.djl.pytorch.num_threads=" + threads),
                List.of(
                        files.path().toString(),
                        job,
                        Long.toString(ProcessHandle.current().pid())));
    }

    private static String failure(JobFolder files, String job, int code) {
        String end =
                code > 128
                        ? Text.format(
                                "killed by signal %d%s",
                                code - 128, code == 137 ? " (probably out of memory)" : "")
                        : Text.format("exit code %d", code);
        String last = lastLine(files, job);
        return last.isEmpty() ? end : end + ": " + last;
    }

    /** Returns the last message of a job, without its log level; empty if there is none. */
    private static String lastLine(JobFolder files, String job) {
        try (Stream<String> lines = Files.lines(files.log(job), UTF_8)) {
            return lines.filter(line -> !line.isBlank())
                    .filter(line -> !Character.isWhitespace(line.charAt(0)))
                    .reduce((before, last) -> last)
                    .map(last -> last.replaceFirst("^ERROR: ", ""))
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    /** Waits for processes that save their state, then kills the rest. */
    private void end() {
        processes.forEach(Process::destroy);
        for (Process process : processes) {
            try {
                if (!process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                process.destroyForcibly();
            }
        }
    }
}
