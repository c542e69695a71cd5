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

/**
 * Ends connections whose clients take too long, also those that send or take a byte now and then,
 * which a timeout between bytes never ends. While a client waits for an answer, its time stands
 * still.
 */
final class ConnectionTimeout extends AbstractLifeCycle implements Connection.Listener {

    /**
     * When a client is late, and what is done then.
     *
     * @param runs whether it can be late, as it is not the server's turn
     */
    private record Deadline(boolean runs, long nanoTime, Runnable late) {

        private boolean isOver(long now) {
            return runs && nanoTime - now < 0;
        }
    }

    private final Scheduler scheduler;
    private final long patience;
    private final Map<EndPoint, Deadline> deadlines = new ConcurrentHashMap<>();

    ConnectionTimeout(Scheduler scheduler, Duration patience) {
        this.scheduler = scheduler;
        this.patience = patience.toNanos();
    }

    @Override
    protected void doStart() {
        schedule();
    }

    private void schedule() {
        scheduler.schedule(
                this::look, Math.min(patience / 4, 1_000_000_000L), TimeUnit.NANOSECONDS);
    }

    private void look() {
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
        return new Deadline(true, start + patience, client::close);
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

    /** Does something other than closing, once, should the body of a request be late. */
    void onLateBody(Request request, Runnable late) {
        deadlines.computeIfPresent(
                client(request), (client, now) -> new Deadline(true, now.nanoTime(), late));
    }

    /** The request is there. */
    void received(Request request) {
        deadlines.computeIfPresent(
                client(request), (client, now) -> new Deadline(false, 0, () -> {}));
    }

    /** The client is sent an answer, or has got it. */
    void restart(Request request) {
        deadlines.computeIfPresent(
                client(request), (client, now) -> closing(client, System.nanoTime()));
    }

    private static EndPoint client(Request request) {
        return request.getConnectionMetaData().getConnection().getEndPoint();
    }
}
