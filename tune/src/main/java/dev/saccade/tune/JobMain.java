package dev.saccade.tune;

import static com.google.common.base.Preconditions.checkState;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Entry point of the processes of {@link LocalJobs}; the arguments are the folder, the name of a
 * job and the process id of the parent. Exit codes: 0 with a result, 130 after an interruption.
 */
public final class JobMain {

    private static final int INTERRUPTED = 130;

    /** Time to finish a step and save a checkpoint. */
    private static final int SECONDS_TO_END = 60;

    private JobMain() {}

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        // Waits for another process with this job: a child of a killed parent that saves its state.
        try (FileChannel channel =
                        FileChannel.open(
                                new JobFolder(folder).lock(args[1]),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            checkState(lock.isValid(), "job %s is locked", args[1]);
            run(new JobRun(folder, args[1]), Long.parseLong(args[2]));
        }
    }

    private static void run(JobRun job, long parent) {
        CountDownLatch ended = new CountDownLatch(1);
        endWith(parent);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(job, ended), "stop-signal"));
        boolean done = job.run();
        ended.countDown();
        // libtorch can crash if the process exits while its threads compute.
        Runtime.getRuntime().halt(done ? 0 : INTERRUPTED);
    }

    private static void stop(JobRun job, CountDownLatch ended) {
        job.stop();
        try {
            ended.await(SECONDS_TO_END, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(INTERRUPTED);
    }

    /** Ends this process like a signal does when its parent ends or is killed. */
    private static void endWith(long parent) {
        Thread watch =
                new Thread(
                        () -> {
                            ProcessHandle.of(parent).ifPresent(each -> each.onExit().join());
                            System.exit(INTERRUPTED);
                        },
                        "parent-watch");
        watch.setDaemon(true);
        watch.start();
    }
}
