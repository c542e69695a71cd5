package dev.saccade.core;

import java.util.concurrent.CancellationException;

/** Thrown by a task that was cancelled, for example by {@link TaskMonitor#cancel}. */
public final class TaskCancelledException extends CancellationException {

    private static final long serialVersionUID = 1L;

    public TaskCancelledException() {
        super("the task was cancelled");
    }
}
