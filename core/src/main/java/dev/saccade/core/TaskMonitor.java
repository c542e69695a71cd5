package dev.saccade.core;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Observes long tasks and cancels them from any thread: training, evaluation, prediction, export
 * and hyperparameter search.
 *
 * <pre>{@code
 * TaskMonitor monitor = new TaskMonitor(progress -> show(progress.done(), progress.remaining()));
 * cancelButton.onClick(monitor::cancel);
 * DetectionEvaluation result = DetectionEvaluator.evaluate(detector, dataset, monitor);
 * }</pre>
 *
 * <p>A cancelled task throws {@link TaskCancelledException} after its current step, except training
 * runs and searches, which save their state and return. A cancelled monitor stays cancelled.
 */
public final class TaskMonitor implements ProgressBar.Factory {

    private final Consumer<TaskProgress> listener;
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();

    /**
     * Creates a monitor.
     *
     * @param listener called in the thread of the task after each step; must be fast
     */
    public TaskMonitor(Consumer<TaskProgress> listener) {
        this.listener = listener;
    }

    /** Cancels the tasks of this monitor. */
    public void cancel() {
        cancelled.set(true);
        for (Runnable action = actions.poll(); action != null; action = actions.poll()) {
            action.run();
        }
    }

    public boolean isCancelled() {
        return cancelled.get();
    }

    /** Runs an action once on {@link #cancel}, or at once if cancelled. */
    public void onCancel(Runnable action) {
        actions.add(action);
        if (isCancelled()) {
            cancel();
        }
    }

    /** Calls the listener. */
    public void report(TaskProgress progress) {
        listener.accept(progress);
    }

    /** Starts a task whose steps throw {@link TaskCancelledException} after {@link #cancel}. */
    @Override
    public ProgressBar open(String task, long total, String unit) {
        return new Steps(task, total, unit.strip());
    }

    private final class Steps implements ProgressBar {

        private final String task;
        private final long total;
        private final String unit;
        private long done;

        /** End of the first step, which is slow and excluded from the estimate. */
        private long firstEnd;

        private long firstDone = -1;

        Steps(String task, long total, String unit) {
            this.task = task;
            this.total = total;
            this.unit = unit;
            if (isCancelled()) {
                throw new TaskCancelledException();
            }
        }

        @Override
        public synchronized void to(long finished) {
            done = finished;
            if (firstDone < 0 && done > 0) {
                firstDone = done;
                firstEnd = System.nanoTime();
            }
            report(
                    new TaskProgress(
                            task,
                            done,
                            total,
                            unit,
                            remaining(),
                            OptionalInt.empty(),
                            OptionalDouble.empty()));
            if (isCancelled()) {
                throw new TaskCancelledException();
            }
        }

        private Optional<Duration> remaining() {
            if (firstDone < 0 || done <= firstDone || total < done) {
                return Optional.empty();
            }
            double each = (double) (System.nanoTime() - firstEnd) / (done - firstDone);
            return Optional.of(Duration.ofNanos(Math.round(each * (total - done))));
        }

        @Override
        public synchronized void step() {
            to(done + 1);
        }

        /** Does nothing. */
        @Override
        public void close() {}
    }
}
