package dev.saccade.models.zoo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;

/** Gives a body of an answer content without a server, since those keep to what they announce. */
final class FileBodyProbe {

    private final FileBody body;

    FileBodyProbe(Path part, long announced) throws IOException {
        FileChannel channel =
                FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        body = new FileBody(channel, (bytes, total) -> {});
        body.begin(0, announced);
        body.onSubscribe(
                new Flow.Subscription() {
                    @Override
                    public void request(long n) {}

                    @Override
                    public void cancel() {}
                });
    }

    void send(int bytes) throws Throwable {
        body.onNext(List.of(ByteBuffer.allocate(bytes)));
        try {
            body.getBody().toCompletableFuture().join();
        } catch (CompletionException e) {
            throw e.getCause();
        }
    }
}
