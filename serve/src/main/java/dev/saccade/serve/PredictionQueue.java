package dev.saccade.serve;

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
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Decodes and predicts the images of all clients on separate threads, and rejects requests when the
 * queue is full.
 *
 * <p>Small waiting images of one size after resizing form a batch; no image waits for more to come.
 */
final class PredictionQueue implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PredictionQueue.class);

    private static final int MOST_READERS = 8;
    private static final int PIXELS_OF_A_PERMIT = 1_000_000;

    /** Larger ones keep all cores busy alone, and would hold much memory. */
    private static final int MOST_BATCH_PIXELS = 1_000_000;

    /**
     * The prediction of an image.
     *
     * @param size size of the upright image
     * @param prediction {@code Instances} or {@code LabelMap}
     * @param warnings parts of the image that were skipped or repaired
     */
    record Predicted(Size size, Object prediction, List<String> warnings) {}

    /** A photograph before the model. */
    private record Decoded(
            InferenceInput input,
            Size size,
            List<String> warnings,
            AtomicBoolean gone,
            CompletableFuture<Predicted> seen) {}

    private final TrainedModel<?> model;
    private final ServerLimits limits;
    private final Metrics metrics;
    private final InferenceReader reader;
    private final Workers readers;
    private final Workers predictors;

    private final Semaphore places;
    private final Semaphore decoding;
    private final int decodingPermits;
    private final Semaphore decoded;
    private final Queue<Decoded> waiting = new ArrayDeque<>();
    private final int mostBatch;

    /**
     * Starts no thread yet.
     *
     * @param together how many batches the model looks at side by side
     * @param mostBatch most photographs of a batch
     */
    PredictionQueue(
            TrainedModel<?> model,
            int together,
            int mostBatch,
            ServerLimits limits,
            Metrics metrics) {
        this.model = model;
        this.limits = limits;
        this.metrics = metrics;
        reader = new InferenceReader(model.pipelines());
        int cores = Runtime.getRuntime().availableProcessors();
        readers = new Workers("serve-read", Math.min(cores, MOST_READERS));
        predictors = new Workers("serve-predict", together);
        places = new Semaphore(limits.queue());
        decodingPermits = 2 * permits(limits.pixels());
        decoding = new Semaphore(decodingPermits, /* fair= */ true);
        this.mostBatch = mostBatch;
        decoded = new Semaphore(together * (mostBatch + 1), /* fair= */ true);
        metrics.queue(() -> limits.queue() - places.availablePermits(), limits.queue());
    }

    private static int permits(long pixels) {
        return Math.toIntExact(pixels / PIXELS_OF_A_PERMIT + 1);
    }

    /**
     * Admits the photographs of a request.
     *
     * @param gone tells whether the client has gone
     * @return the prediction of each image; fails with a {@link Problem.Refusal} where it cannot be
     *     used
     * @throws Problem.Refusal if there is no room for all of them now
     */
    List<CompletableFuture<Predicted>> submit(List<Upload> photos, AtomicBoolean gone) {
        if (!places.tryAcquire(photos.size())) {
            throw Problem.busy(
                    metrics.secondsFor(limits.queue()),
                    "%s of at most %d are waiting; try again later",
                    Count.of(limits.queue() - places.availablePermits(), "photograph"),
                    limits.queue());
        }
        return photos.stream().map(photo -> start(photo, gone)).toList();
    }

    private CompletableFuture<Predicted> start(Upload photo, AtomicBoolean gone) {
        CompletableFuture<Predicted> seen = new CompletableFuture<>();
        Future<?> unused =
                readers.submit(
                        () -> {
                            decoded.acquire();
                            try {
                                read(photo, gone, seen);
                            } catch (Throwable e) {
                                decoded.release();
                                fail(seen, e);
                            }
                            return null;
                        });
        // Free before the client knows of it, who may have another photograph.
        return seen.whenComplete((done, failure) -> places.release());
    }

    private void read(Upload photo, AtomicBoolean gone, CompletableFuture<Predicted> seen)
            throws InterruptedException {
        if (gone.get()) {
            throw gone();
        }
        ImageHeader header = ImageHeader.read(photo.name(), photo.content());
        if (header.storedSize().area() > limits.pixels()) {
            throw SaccadeException.user(
                    "%s: %s of %dx%d pixels, at most %d are looked at here; make it smaller",
                    photo.name(),
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
                    ImageSource.of(photo.name(), photo.content()).warnings(warnings::add);
            ready =
                    metrics.decoding(
                            () -> OutOfMemory.PREDICTION.call(() -> reader.read(List.of(source))));
        } finally {
            decoding.release(permits);
        }
        synchronized (waiting) {
            waiting.add(new Decoded(ready, header.size(), warnings, gone, seen));
        }
        Future<?> unused =
                predictors.submit(
                        () -> {
                            predictBatch(nextBatch());
                            return null;
                        });
    }

    /** Takes the photograph that has waited longest, and those that fit to it; maybe none. */
    private List<Decoded> nextBatch() {
        List<Decoded> batch = new ArrayList<>();
        synchronized (waiting) {
            Iterator<Decoded> each = waiting.iterator();
            while (each.hasNext()) {
                Decoded photo = each.next();
                if (batch.isEmpty() || isOneOf(batch, photo)) {
                    batch.add(photo);
                    each.remove();
                }
            }
        }
        return batch;
    }

    private boolean isOneOf(List<Decoded> batch, Decoded photo) {
        Size size = photo.input().batches().get(0).size();
        return batch.size() < mostBatch
                && (batch.size() + 1) * size.area() <= MOST_BATCH_PIXELS
                && batch.get(0).input().batches().get(0).size().equals(size);
    }

    private void predictBatch(List<Decoded> batch) {
        List<Decoded> wanted = new ArrayList<>();
        for (Decoded photo : batch) {
            if (photo.gone().get()) {
                fail(photo.seen(), gone());
            } else {
                wanted.add(photo);
            }
        }
        try {
            if (!wanted.isEmpty()) {
                metrics.predicting(wanted.size(), () -> predict(wanted));
            }
        } finally {
            batch.forEach(photo -> photo.input().close());
            decoded.release(batch.size());
        }
    }

    private void predict(List<Decoded> batch) {
        try {
            List<?> seen = model.predict(batch.stream().map(Decoded::input).toList());
            for (int i = 0; i < batch.size(); i++) {
                Decoded photo = batch.get(i);
                photo.seen().complete(new Predicted(photo.size(), seen.get(i), photo.warnings()));
            }
        } catch (Throwable e) {
            if (batch.size() == 1) {
                fail(batch.get(0).seen(), e);
            } else {
                // What one of them, or all together, could not do, the others may.
                batch.forEach(photo -> predict(List.of(photo)));
            }
        }
    }

    private static Problem.Refusal gone() {
        return Problem.badRequest("the client has gone");
    }

    private static void fail(CompletableFuture<Predicted> seen, Throwable failure) {
        seen.completeExceptionally(
                failure instanceof Problem.Refusal refusal ? refusal : refusal(failure));
    }

    /** Tells whoever sent a photograph what is wrong with it, but nothing of bugs. */
    private static Problem.Refusal refusal(Throwable failure) {
        boolean memory = OutOfMemory.reason(failure).isPresent();
        if (!memory
                && failure instanceof SaccadeException known
                && known.kind() == SaccadeException.Kind.USER) {
            return Problem.refusal(HttpStatus.UNPROCESSABLE_ENTITY_422, "%s", known);
        }
        LOG.error("a photograph could not be looked at", failure);
        return memory
                ? Problem.busy(1, "the server is out of memory; send a smaller photograph")
                : Problem.refusal(
                        HttpStatus.INTERNAL_SERVER_ERROR_500,
                        "the photograph could not be looked at; the log of the server says why");
    }

    /** Waits for what is under way. */
    @Override
    public void close() {
        readers.close();
        predictors.close();
    }
}
