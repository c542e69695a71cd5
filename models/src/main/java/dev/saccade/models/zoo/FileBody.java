package dev.saccade.models.zoo;

import dev.saccade.core.ServerFault;
import dev.saccade.core.Text;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** Writes the content of an answer to a file as it comes, and no further than it may go. */
final class FileBody implements HttpResponse.BodySubscriber<Void> {

    /** The file, not the server, is what failed. */
    static final class Unwritable extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Unwritable(IOException cause) {
            super(cause);
        }

        @Override
        public synchronized IOException getCause() {
            return (IOException) super.getCause();
        }
    }

    /** More has come than may. */
    static final class Excess extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Excess(long most) {
            super("it sends more than the " + most + " bytes that are expected");
        }
    }

    private final FileChannel channel;
    private final PretrainedWeights.Progress progress;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private Flow.Subscription subscription;
    private long position;
    private long total = -1;
    private long most;
    private boolean discarded;

    FileBody(FileChannel channel, PretrainedWeights.Progress progress) {
        this.channel = channel;
        this.progress = progress;
    }

    /**
     * Prepares for content.
     *
     * @param start where in the file it goes; what is behind is cut off
     * @param whole the size of the whole file; -1 where that is not known
     * @param expected how large it may be then
     */
    synchronized void begin(long start, long whole, long expected) throws IOException {
        position = start;
        total = whole;
        most = whole < 0 ? expected : whole;
        channel.truncate(start);
        channel.position(start);
        progress.fetched(start, whole);
    }

    /** Returns this, which takes nothing, however much comes. */
    FileBody none() {
        end.complete(null);
        return this;
    }

    /** Returns this, which takes nothing and has failed. */
    FileBody failed(Exception reason) {
        end.completeExceptionally(reason);
        return this;
    }

    /** Leaves the file alone from now on. */
    synchronized void discard() {
        discarded = true;
    }

    /** Returns how much of the file is there. */
    synchronized long received() {
        return position;
    }

    /** Refuses content that ended early, which not every server lets be seen. */
    synchronized void requireAll() throws IOException {
        if (total >= 0 && position != total) {
            throw new ServerFault(Text.format("%d bytes of %d have come", position, total));
        }
    }

    @Override
    public CompletionStage<Void> getBody() {
        return end;
    }

    @Override
    public void onSubscribe(Flow.Subscription content) {
        subscription = content;
        if (end.isDone()) {
            content.cancel();
        } else {
            content.request(1);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> pieces) {
        try {
            write(pieces);
            subscription.request(1);
        } catch (IOException e) {
            subscription.cancel();
            end.completeExceptionally(new Unwritable(e));
        } catch (RuntimeException e) {
            subscription.cancel();
            end.completeExceptionally(e);
        }
    }

    private synchronized void write(List<ByteBuffer> pieces) throws IOException {
        long more = pieces.stream().mapToLong(ByteBuffer::remaining).sum();
        if (position + more > most) {
            throw new Excess(most);
        }
        for (ByteBuffer piece : pieces) {
            while (!discarded && piece.hasRemaining()) {
                position += channel.write(piece);
            }
        }
        if (!discarded) {
            progress.fetched(position, total);
        }
    }

    @Override
    public void onError(Throwable error) {
        end.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        end.complete(null);
    }
}
