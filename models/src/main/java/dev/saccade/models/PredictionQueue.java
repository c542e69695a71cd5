package dev.saccade.models;

import static java.math.RoundingMode.CEILING;

import com.google.common.base.Throwables;
import com.google.common.math.IntMath;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceInput;

import io.micrometer.observation.Observation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * Decodes images and predicts them in the model's {@linkplain TrainedModel#streams streams};
 * rejects images when full. If more images wait than there are streams, batches small images whose
 * model inputs have the same size. Never waits for a batch to fill.
 *
 * @param <P> prediction for an image
 */
public final class PredictionQueue<P> implements AutoCloseable {

    private static final int MAX_READERS = 8;
    private static final int PIXELS_PER_PERMIT = 1_000_000;

    /**
     * Maximum pixels of a batch of several images. A larger image uses all cores on its own, so
     * batching it would only need more memory.
     */
    private static final int MAX_BATCH_PIXELS = 1_000_000;

    private static final double SMOOTHING = 0.1;
    private static final int MAX_RETRY_SECONDS = 30;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

    private final class Request {

        private final ImageSource image;
        private final BooleanSupplier isCancelled;
        private final Observation observation = metrics.request();
        private final CompletableFuture<P> result = new CompletableFuture<>();
        private final long start = System.nanoTime();
        private long decodeNanos;
        private InferenceInput input;

        private Request(ImageSource image, BooleanSupplier isCancelled) {
            this.image = image;
            this.isCancelled = isCancelled;
        }

        /** Returns whether the client has given up, and then ends the request. */
        private boolean endIfCancelled() {
            return isCancelled.getAsBoolean() && result.completeExceptionally(cancelled());
        }

        private void fail(Throwable failure) {
            metrics.error(failure);
            result.completeExceptionally(failure);
        }
    }

    private final TrainedModel<P> model;
    private final QueueLimits limits;
    private final ModelMetrics metrics;
    private final Workers readers;
    private final Workers predictors;

    private final Semaphore queueSlots;
    private final Semaphore decoding;
    private final int decodingPermits;
    private final Semaphore decoded;
    private final Queue<Request> waiting = new ArrayDeque<>();
    private final Set<Request> unfinished = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Double> meanSeconds = new AtomicReference<>(0.0);
    private final int maxBatch;
    private final int streams;
    private volatile boolean closed;

    public PredictionQueue(TrainedModel<P> model, QueueLimits limits, ModelMetrics metrics) {
        this.model = model;
        this.limits = limits;
        this.metrics = metrics;
        int cores = Runtime.getRuntime().availableProcessors();
        readers = new Workers("saccade-read", Math.min(cores, MAX_READERS));
        streams = model.streams();
        predictors = new Workers("saccade-predict", streams);
        queueSlots = new Semaphore(limits.images());
        decodingPermits = 2 * permits(limits.pixels());
        decoding = new Semaphore(decodingPermits, /* fair= */ true);
        maxBatch = model instanceof Segmenter ? 1 : limits.batch();
        decoded = new Semaphore(streams * (maxBatch + 1), /* fair= */ true);
        metrics.queue(this::length, limits.images());
        metrics.memory(model::weightBytes);
    }

    private static int permits(long pixels) {
        return Math.toIntExact(pixels / PIXELS_PER_PERMIT + 1);
    }

    /** Returns the number of images that are waiting or in progress. */
    private int length() {
        return limits.images() - queueSlots.availablePermits();
    }

    /**
     * Queues images, or rejects all if there is not enough room.
     *
     * @param isCancelled stops the processing of these images when true; the futures then fail with
     *     a {@link CancellationException}
     * @throws QueueFullException if the queue is full
     * @throws IllegalStateException if the queue is closed
     */
    public List<CompletableFuture<P>> submit(
            List<ImageSource> images, BooleanSupplier isCancelled) {
        if (!queueSlots.tryAcquire(images.size())) {
            QueueFullException full =
                    new QueueFullException(length(), limits.images(), retryAfterSeconds());
            images.forEach(image -> metrics.error(full));
            throw full;
        }
        if (closed) {
            queueSlots.release(images.size());
            throw new IllegalStateException("the queue is closed");
        }
        return images.stream().map(image -> start(new Request(image, isCancelled))).toList();
    }

    private int retryAfterSeconds() {
        double seconds = Math.ceil(meanSeconds.get() * limits.images() / streams);
        return (int) Math.max(1, Math.min(MAX_RETRY_SECONDS, seconds));
    }

    /** Queues an image and waits for its prediction; see {@link #submit}. */
    P predict(ImageSource image) {
        try {
            return submit(List.of(image), () -> false).get(0).join();
        } catch (CompletionException e) {
            Throwables.throwIfUnchecked(e.getCause());
            throw SaccadeException.internal(e.getCause(), "%s: cannot be predicted", image.name());
        }
    }

    private CompletableFuture<P> start(Request request) {
        unfinished.add(request);
        // Free the slot before responding, because the client may send the next image at once.
        CompletableFuture<P> result =
                request.result.whenComplete(
                        (done, failure) -> {
                            unfinished.remove(request);
                            queueSlots.release();
                        });
        Future<?> unused =
                readers.submit(
                        () -> {
                            decoded.acquire();
                            try {
                                read(request);
                            } catch (Throwable e) {
                                decoded.release();
                                request.fail(e);
                            }
                            return null;
                        });
        return result;
    }

    private void read(Request request) throws InterruptedException {
        if (request.endIfCancelled()) {
            decoded.release();
            return;
        }
        int permits = Math.min(permits(storedPixels(request.image)), decodingPermits);
        decoding.acquire(permits);
        long start = System.nanoTime();
        try {
            request.input = model.read(request.image, metrics, request.observation);
        } finally {
            request.decodeNanos = System.nanoTime() - start;
            decoding.release(permits);
        }
        synchronized (waiting) {
            waiting.add(request);
        }
        Future<?> unused =
                predictors.submit(
                        () -> {
                            predictBatch(nextBatch());
                            return null;
                        });
    }

    /** Returns the pixels to decode; 0 if the image is decoded. Rejects too many pixels. */
    private long storedPixels(ImageSource image) {
        Optional<ImageHeader> header = image.header();
        long pixels = header.map(each -> each.storedSize().area()).orElse(0L);
        if (pixels > limits.pixels()) {
            throw SaccadeException.user(
                    "%s: %s of %dx%d pixels, expected at most %d pixels; send a smaller image",
                    image.name(),
                    header.orElseThrow().kind(),
                    header.orElseThrow().storedSize().width(),
                    header.orElseThrow().storedSize().height(),
                    limits.pixels());
        }
        return pixels;
    }

    /** Returns the image that has waited longest and images to batch with it, or an empty list. */
    private List<Request> nextBatch() {
        List<Request> batch = new ArrayList<>();
        synchronized (waiting) {
            int size = Math.min(maxBatch, IntMath.divide(waiting.size(), streams, CEILING));
            Iterator<Request> each = waiting.iterator();
            while (each.hasNext()) {
                Request image = each.next();
                if (batch.isEmpty() || (batch.size() < size && fits(batch, image))) {
                    batch.add(image);
                    each.remove();
                }
            }
        }
        return batch;
    }

    private boolean fits(List<Request> batch, Request image) {
        Optional<Size> size = image.input.sharedBatchSize();
        return size.isPresent()
                && (batch.size() + 1) * size.get().area() <= MAX_BATCH_PIXELS
                && batch.get(0).input.sharedBatchSize().equals(size);
    }

    private void predictBatch(List<Request> batch) {
        List<Request> pending =
                batch.stream().filter(request -> !request.endIfCancelled()).toList();
        try {
            if (!pending.isEmpty()) {
                long start = System.nanoTime();
                pending.forEach(each -> metrics.waited(start - each.start - each.decodeNanos));
                predict(pending);
                double seconds = (System.nanoTime() - start) / 1e9 / pending.size();
                meanSeconds.updateAndGet(
                        mean -> mean == 0 ? seconds : mean + SMOOTHING * (seconds - mean));
            }
        } finally {
            batch.forEach(request -> request.input.close());
            decoded.release(batch.size());
        }
    }

    private void predict(List<Request> batch) {
        try {
            List<P> results =
                    model.predict(
                            batch.stream().map(request -> request.input).toList(),
                            metrics,
                            batch.get(0).observation);
            for (int i = 0; i < batch.size(); i++) {
                batch.get(i).result.complete(results.get(i));
            }
        } catch (Throwable e) {
            if (batch.size() == 1) {
                batch.get(0).fail(e);
            } else {
                // Find the image that failed; the others may succeed.
                batch.forEach(request -> predict(List.of(request)));
            }
        }
    }

    private static CancellationException cancelled() {
        return new CancellationException("the client has disconnected");
    }

    /** Rejects new images and waits up to 30 seconds for the others. */
    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /** Rejects new images and waits for the others, which fail after the timeout. */
    public void close(Duration timeout) {
        closed = true;
        try {
            if (queueSlots.tryAcquire(limits.images(), timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                queueSlots.release(limits.images());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        readers.close();
        predictors.close();
        for (Request request : unfinished) {
            request.result.completeExceptionally(new IllegalStateException("the queue is closed"));
        }
    }
}
