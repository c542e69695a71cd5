package dev.saccade.tune;

import dev.saccade.core.SaccadeException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Entry point of the processes of {@link LocalJobs}; the arguments are the folder, the name of a
 * job and the process id of the parent. Exit codes: 0 with a result, 130 after an interruption, 3
 * after an IO error, whose message is the last line of output.
 */
public final class JobMain {

    private static final Logger LOG = LoggerFactory.getLogger(JobMain.class);

    private static final int INTERRUPTED = 130;

    /** Time to finish a step and save a checkpoint. */
    private static final int SECONDS_TO_END = 60;

    private JobMain() {}

    public static void main(String[] args) {
        run(new JobRun(Path.of(args[0]), args[1]), Long.parseLong(args[2]));
    }

    private static void run(JobRun job, long parent) {
        CountDownLatch ended = new CountDownLatch(1);
        endWith(parent);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(job, ended), "stop-signal"));
        int code;
        try {
            code = job.run() ? 0 : INTERRUPTED;
        } catch (SaccadeException e) {
            LOG.error("{}", e.getMessage());
            code = e.kind().exitCode();
        }
        ended.countDown();
        // libtorch can crash if the process exits while its threads compute.
        Runtime.getRuntime().halt(code);
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
