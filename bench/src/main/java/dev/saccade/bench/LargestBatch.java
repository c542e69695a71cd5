package dev.saccade.bench;

import ai.djl.Device;

import com.google.common.base.Ticker;

import dev.saccade.core.Count;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.Size;
import dev.saccade.train.TrialRun;
import dev.saccade.train.config.RunConfig;

import java.util.Optional;

/**
 * Largest batch of a training step that fits into the memory of a device.
 *
 * @param images largest batch size; 0 if one image does not fit
 * @param tried largest batch size that ran; larger values of {@code images} are extrapolated
 * @param peakBytes peak tensor memory with {@code images}, measured or extrapolated
 * @param usableBytes free memory minus a reserve
 */
public record LargestBatch(int images, int tried, long peakBytes, long usableBytes) {

    private static final double USABLE_GPU_FRACTION = 0.92;

    /** Lower than for GPUs, because a system without free memory may kill processes. */
    private static final double USABLE_HOST_FRACTION = 0.7;

    private static final double MAX_SECONDS = 5;
    private static final int MIN_EDGE = 64;

    /** Measures the peak memory of a step; throws if the step does not fit. */
    interface Need {
        long peakBytes(int images);
    }

    @Override
    public String toString() {
        return images == 0
                ? Text.format("none, because one image does not fit into %d MiB", usableBytes >> 20)
                : Text.format(
                        "%s%s, %d MiB of %d MiB usable memory%s",
                        tried < images ? "about " : "",
                        Count.of(images, "image"),
                        peakBytes >> 20,
                        usableBytes >> 20,
                        tried < images ? Text.format(" (tried: %d)", tried) : "");
    }

    /** Finds the largest batch, trying up to {@code maxImages}; empty without memory tracking. */
    public static Optional<LargestBatch> find(
            RunConfig config, Size size, int classes, int maxImages) {
        Device device = Devices.local().choose(config.device());
        double share = device.isGpu() ? USABLE_GPU_FRACTION : USABLE_HOST_FRACTION;
        Optional<Long> usable =
                DeviceMemory.of(device).map(memory -> (long) (share * memory.freeBytes()));
        if (usable.isEmpty() || TensorMemory.of(device).isEmpty()) {
            return Optional.empty();
        }
        try (TrialRun run = new TrialRun(config, classes, device)) {
            // A GPU rejects allocations beyond its memory, but the system kills processes.
            if (!device.isGpu() && !isExpectedToFit(run, size, usable.get())) {
                return Optional.of(new LargestBatch(0, 0, 0, usable.get()));
            }
            Need need = images -> run.peakBytes(images, size);
            return Optional.of(
                    new Search(usable.get(), maxImages, need, Ticker.systemTicker()).search());
        }
    }

    /** Returns whether a step with one image should fit, extrapolating from smaller images. */
    private static boolean isExpectedToFit(TrialRun run, Size size, long usable) {
        long estimate = Long.MAX_VALUE;
        for (int part : new int[] {4, 2}) {
            if (part == 2 && estimate / 4 > usable) {
                return false;
            }
            Size smaller =
                    new Size(
                            Math.max(size.height() / part, MIN_EDGE),
                            Math.max(size.width() / part, MIN_EDGE));
            // Batch statistics need more than one image.
            estimate = run.peakBytes(2, smaller) * part * part / 2;
            if (estimate <= usable) {
                return true;
            }
        }
        return false;
    }

    /** Doubles the batch size, then bisects; extrapolates to batches too large or slow to run. */
    static final class Search {

        private final long usable;
        private final int maxImages;
        private final Need need;
        private final Ticker ticker;
        private int fitting;
        private long peak;
        private long perImage;
        private double seconds;

        Search(long usable, int maxImages, Need need, Ticker ticker) {
            this.maxImages = maxImages;
            this.usable = usable;
            this.need = need;
            this.ticker = ticker;
        }

        LargestBatch search() {
            // The first step allocates optimizer state; the second one measures time.
            if (!start() || !fits(fitting)) {
                return new LargestBatch(0, 0, 0, usable);
            }
            int images = 2 * fitting;
            while (images <= maxImages
                    && isFastEnough(images)
                    && isExpectedToFit(images)
                    && fits(images)) {
                images *= 2;
            }
            int tooMany = images;
            if (images > maxImages || !isFastEnough(images)) {
                long more = Math.max(usable - peak, 0) / each();
                return new LargestBatch(
                        fitting + (int) Math.min(more, Integer.MAX_VALUE / 2),
                        fitting,
                        peak + more * each(),
                        usable);
            }
            while (tooMany - fitting > 1) {
                int middle = (fitting + tooMany) / 2;
                if (!isExpectedToFit(middle) || !fits(middle)) {
                    tooMany = middle;
                }
            }
            return new LargestBatch(fitting, fitting, peak, usable);
        }

        /** Returns whether the smallest batch fits: one image, or two if the model needs two. */
        private boolean start() {
            try {
                return fits(1);
            } catch (SaccadeException e) {
                return fits(2);
            }
        }

        private boolean isFastEnough(int images) {
            return seconds * images / fitting <= MAX_SECONDS;
        }

        private boolean isExpectedToFit(int images) {
            return peak + (images - fitting) * each() <= usable;
        }

        /** Returns the memory per image; includes fixed memory until two batch sizes are known. */
        private long each() {
            return Math.max(perImage == 0 ? peak / fitting : perImage, 1);
        }

        private boolean fits(int images) {
            long start = ticker.read();
            long bytes;
            try {
                bytes = need.peakBytes(images);
            } catch (RuntimeException | OutOfMemoryError e) {
                if (OutOfMemory.reason(e).isPresent()) {
                    return false;
                }
                throw e;
            }
            if (bytes > usable) {
                return false;
            }
            perImage = fitting > 0 && images > fitting ? (bytes - peak) / (images - fitting) : 0;
            seconds = (ticker.read() - start) / 1e9;
            peak = bytes;
            fitting = images;
            return true;
        }
    }
}
