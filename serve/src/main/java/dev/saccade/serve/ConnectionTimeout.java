package dev.saccade.serve;

import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.thread.Scheduler;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Closes connections of slow clients; the clock stops while the server works. */
final class ConnectionTimeout extends AbstractLifeCycle implements Connection.Listener {

    /** A deadline with its action; {@code runs} is false while the server works. */
    private record Deadline(boolean runs, long nanoTime, Runnable late) {

        private boolean isOver(long now) {
            return runs && nanoTime - now < 0;
        }
    }

    private final Scheduler scheduler;
    private final long timeout;
    private final Map<EndPoint, Deadline> deadlines = new ConcurrentHashMap<>();

    ConnectionTimeout(Scheduler scheduler, Duration timeout) {
        this.scheduler = scheduler;
        this.timeout = timeout.toNanos();
    }

    @Override
    protected void doStart() {
        schedule();
    }

    private void schedule() {
        scheduler.schedule(
                this::closeLate, Math.min(timeout / 4, 1_000_000_000L), TimeUnit.NANOSECONDS);
    }

    private void closeLate() {
        if (!isRunning() && !isStarting()) {
            return;
        }
        long now = System.nanoTime();
        deadlines.forEach(
                (client, deadline) -> {
                    if (deadline.isOver(now)
                            && deadlines.replace(client, deadline, closing(client, now))) {
                        deadline.late().run();
                    }
                });
        schedule();
    }

    private Deadline closing(EndPoint client, long start) {
        return new Deadline(true, start + timeout, client::close);
    }

    @Override
    public void onOpened(Connection connection) {
        EndPoint client = connection.getEndPoint();
        deadlines.put(client, closing(client, System.nanoTime()));
    }

    @Override
    public void onClosed(Connection connection) {
        deadlines.remove(connection.getEndPoint());
    }

    /** Sets the action to run instead of closing the connection if the body is late. */
    void onLateBody(Request request, Runnable late) {
        deadlines.computeIfPresent(
                client(request), (client, now) -> new Deadline(true, now.nanoTime(), late));
    }

    /** Stops the clock when a request is complete. */
    void received(Request request) {
        deadlines.computeIfPresent(
                client(request), (client, now) -> new Deadline(false, 0, () -> {}));
    }

    /** Restarts the clock when a response starts or ends. */
    void restart(Request request) {
        deadlines.computeIfPresent(
                client(request), (client, now) -> closing(client, System.nanoTime()));
    }

    private static EndPoint client(Request request) {
        return request.getConnectionMetaData().getConnection().getEndPoint();
    }
}
