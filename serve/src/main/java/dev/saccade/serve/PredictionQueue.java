package dev.saccade.serve;

import static java.math.RoundingMode.CEILING;

import com.google.common.math.IntMath;

import dev.saccade.core.Count;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.HttpStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Decodes images and predicts them in the model's {@linkplain TrainedModel#streams streams};
 * rejects requests when full. If more images wait than there are streams, batches small images
 * whose model inputs have the same size. Never waits for a batch to fill.
 */
final class PredictionQueue implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PredictionQueue.class);

    private static final int MAX_READERS = 8;
    private static final int PIXELS_PER_PERMIT = 1_000_000;

    /**
     * Maximum pixels of a batch of several images. A larger image uses all cores on its own, so
     * batching it would only need more memory.
     */
    private static final int MAX_BATCH_PIXELS = 1_000_000;

    /** Predicted {@code Instances} or {@code LabelMap}, and the image size after EXIF rotation. */
    record Predicted(Size size, Object prediction, List<String> warnings) {}

    private record Decoded(
            InferenceInput input,
            Size size,
            List<String> warnings,
            AtomicBoolean disconnected,
            CompletableFuture<Predicted> result) {}

    private final TrainedModel<?> model;
    private final ServerLimits limits;
    private final ServerMetrics metrics;
    private final InferenceReader reader;
    private final Workers readers;
    private final Workers predictors;

    private final Semaphore queueSlots;
    private final Semaphore decoding;
    private final int decodingPermits;
    private final Semaphore decoded;
    private final Queue<Decoded> waiting = new ArrayDeque<>();
    private final int maxBatch;
    private final int streams;

    PredictionQueue(
            TrainedModel<?> model, int maxBatch, ServerLimits limits, ServerMetrics metrics) {
        this.model = model;
        this.limits = limits;
        this.metrics = metrics;
        reader = model.reader();
        int cores = Runtime.getRuntime().availableProcessors();
        readers = new Workers("serve-read", Math.min(cores, MAX_READERS));
        streams = model.streams();
        predictors = new Workers("serve-predict", streams);
        queueSlots = new Semaphore(limits.queue());
        decodingPermits = 2 * permits(limits.pixels());
        decoding = new Semaphore(decodingPermits, /* fair= */ true);
        this.maxBatch = maxBatch;
        decoded = new Semaphore(streams * (maxBatch + 1), /* fair= */ true);
        metrics.queue(() -> limits.queue() - queueSlots.availablePermits(), limits.queue());
    }

    private static int permits(long pixels) {
        return Math.toIntExact(pixels / PIXELS_PER_PERMIT + 1);
    }

    /**
     * Queues the images of a request, or rejects all if there is not enough room.
     *
     * @return a future for each image, which may fail with a {@link Problem.HttpException}
     */
    List<CompletableFuture<Predicted>> submit(List<Upload> images, AtomicBoolean disconnected) {
        if (!queueSlots.tryAcquire(images.size())) {
            throw Problem.busy(
                    metrics.secondsFor(limits.queue() / streams),
                    "the queue is full (%s, at most %d); try again later",
                    Count.of(limits.queue() - queueSlots.availablePermits(), "image"),
                    limits.queue());
        }
        return images.stream().map(image -> start(image, disconnected)).toList();
    }

    private CompletableFuture<Predicted> start(Upload image, AtomicBoolean disconnected) {
        CompletableFuture<Predicted> result = new CompletableFuture<>();
        Future<?> unused =
                readers.submit(
                        () -> {
                            decoded.acquire();
                            try {
                                read(image, disconnected, result);
                            } catch (Throwable e) {
                                decoded.release();
                                fail(result, e);
                            }
                            return null;
                        });
        // Free the slot before responding, because the client may send the next image at once.
        return result.whenComplete((done, failure) -> queueSlots.release());
    }

    private void read(Upload image, AtomicBoolean disconnected, CompletableFuture<Predicted> result)
            throws InterruptedException {
        if (disconnected.get()) {
            throw disconnected();
        }
        ImageHeader header = ImageHeader.read(image.name(), image.content());
        if (header.storedSize().area() > limits.pixels()) {
            throw SaccadeException.user(
                    "%s: %s of %dx%d pixels, expected at most %d pixels; send a smaller image",
                    image.name(),
                    header.kind(),
                    header.storedSize().width(),
                    header.storedSize().height(),
                    limits.pixels());
        }
        int permits = Math.min(permits(header.storedSize().area()), decodingPermits);
        decoding.acquire(permits);
        List<String> warnings = new ArrayList<>();
        InferenceInput ready;
        try {
            ImageSource source =
                    ImageSource.of(image.name(), image.content()).warnings(warnings::add);
            ready =
                    metrics.decoding(
                            () -> OutOfMemory.PREDICTION.call(() -> reader.read(List.of(source))));
        } finally {
            decoding.release(permits);
        }
        synchronized (waiting) {
            waiting.add(new Decoded(ready, header.size(), warnings, disconnected, result));
        }
        Future<?> unused =
                predictors.submit(
                        () -> {
                            predictBatch(nextBatch());
                            return null;
                        });
    }

    /** Returns the image that has waited longest and images to batch with it, or an empty list. */
    private List<Decoded> nextBatch() {
        List<Decoded> batch = new ArrayList<>();
        synchronized (waiting) {
            int size = Math.min(maxBatch, IntMath.divide(waiting.size(), streams, CEILING));
            Iterator<Decoded> each = waiting.iterator();
            while (each.hasNext()) {
                Decoded image = each.next();
                if (batch.isEmpty() || (batch.size() < size && fits(batch, image))) {
                    batch.add(image);
                    each.remove();
                }
            }
        }
        return batch;
    }

    private static boolean fits(List<Decoded> batch, Decoded image) {
        Optional<Size> size = image.input().sharedBatchSize();
        return size.isPresent()
                && (batch.size() + 1) * size.get().area() <= MAX_BATCH_PIXELS
                && batch.get(0).input().sharedBatchSize().equals(size);
    }

    private void predictBatch(List<Decoded> batch) {
        List<Decoded> pending = new ArrayList<>();
        for (Decoded image : batch) {
            if (image.disconnected().get()) {
                fail(image.result(), disconnected());
            } else {
                pending.add(image);
            }
        }
        try {
            if (!pending.isEmpty()) {
                metrics.predicting(pending.size(), () -> predict(pending));
            }
        } finally {
            batch.forEach(image -> image.input().close());
            decoded.release(batch.size());
        }
    }

    private void predict(List<Decoded> batch) {
        try {
            List<?> results = model.predict(batch.stream().map(Decoded::input).toList());
            for (int i = 0; i < batch.size(); i++) {
                Decoded image = batch.get(i);
                image.result()
                        .complete(new Predicted(image.size(), results.get(i), image.warnings()));
            }
        } catch (Throwable e) {
            if (batch.size() == 1) {
                fail(batch.get(0).result(), e);
            } else {
                // Find the image that failed; the others may succeed.
                batch.forEach(image -> predict(List.of(image)));
            }
        }
    }

    private static Problem.HttpException disconnected() {
        return Problem.badRequest("the client has disconnected");
    }

    private static void fail(CompletableFuture<Predicted> result, Throwable failure) {
        result.completeExceptionally(
                failure instanceof Problem.HttpException exception
                        ? exception
                        : exception(failure));
    }

    /** Returns the error for the client; logs internal errors and hides their details. */
    private static Problem.HttpException exception(Throwable failure) {
        boolean memory = OutOfMemory.reason(failure).isPresent();
        if (!memory
                && failure instanceof SaccadeException known
                && known.kind() == SaccadeException.Kind.USER) {
            return Problem.exception(HttpStatus.UNPROCESSABLE_ENTITY_422, "%s", known);
        }
        LOG.error("an image could not be processed", failure);
        return memory
                ? Problem.busy(1, "the server is out of memory; send a smaller image")
                : Problem.exception(
                        HttpStatus.INTERNAL_SERVER_ERROR_500,
                        "the image could not be processed because of an internal"
                                + " error; see the log of the server");
    }

    @Override
    public void close() {
        readers.close();
        predictors.close();
    }
}
