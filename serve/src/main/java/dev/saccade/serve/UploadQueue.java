package dev.saccade.serve;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ModelMetrics;
import dev.saccade.models.PredictionQueue;
import dev.saccade.models.QueueFullException;
import dev.saccade.models.QueueLimits;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.HttpStatus;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Predicts uploads in a {@link PredictionQueue}; converts errors to responses. */
final class UploadQueue implements AutoCloseable {

    /** Prediction, and the image size after EXIF rotation. */
    record Predicted(Size size, Object prediction, List<String> warnings) {}

    private final PredictionQueue<?> queue;

    UploadQueue(TrainedModel<?> model, QueueLimits limits, ModelMetrics metrics) {
        queue = new PredictionQueue<>(model, limits, metrics);
    }

    /**
     * Queues the images of a request, or rejects all if there is not enough room.
     *
     * @return a future for each image, which may fail with a {@link Problem.HttpException}
     */
    List<CompletableFuture<Predicted>> submit(List<Upload> uploads, AtomicBoolean disconnected) {
        List<List<String>> warnings = new ArrayList<>();
        List<ImageSource> images = new ArrayList<>();
        for (Upload upload : uploads) {
            List<String> found = new ArrayList<>();
            warnings.add(found);
            images.add(ImageSource.of(upload.name(), upload.content()).warnings(found::add));
        }
        List<CompletableFuture<Predicted>> results = new ArrayList<>();
        for (CompletableFuture<?> result : queued(images, disconnected)) {
            int i = results.size();
            Upload upload = uploads.get(i);
            results.add(
                    result.handle(
                            (prediction, failure) -> {
                                if (failure != null) {
                                    throw exception(failure);
                                }
                                Size size =
                                        ImageHeader.read(upload.name(), upload.content()).size();
                                return new Predicted(size, prediction, warnings.get(i));
                            }));
        }
        return results;
    }

    private List<? extends CompletableFuture<?>> queued(
            List<ImageSource> images, AtomicBoolean disconnected) {
        try {
            return queue.submit(images, disconnected::get);
        } catch (QueueFullException e) {
            throw Problem.busy(e.retryAfterSeconds(), "%s", e.getMessage());
        }
    }

    /** Returns the error for the client. */
    private static Problem.HttpException exception(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof CancellationException) {
            return Problem.badRequest("%s", cause.getMessage());
        }
        if (cause instanceof SaccadeException known
                && known.kind() == SaccadeException.Kind.USER
                && OutOfMemory.reason(cause).isEmpty()) {
            return Problem.exception(HttpStatus.UNPROCESSABLE_ENTITY_422, "%s", known);
        }
        return Exchange.exception(cause);
    }

    /** Fails the images in progress; the server has waited for them. */
    @Override
    public void close() {
        queue.close(Duration.ZERO);
    }
}
