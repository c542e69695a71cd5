package dev.saccade.datasets.loader;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.Workers;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Loads batches in advance on its own threads.
 *
 * <p>Content and order of batches do not depend on the number of threads. Holds at most one batch
 * per thread and one more. An unusable image ends the iteration with a {@link SaccadeException}
 * that names its id and file.
 *
 * @param <B> type of a batch: {@link Batch} in training, {@link InferenceInput} at test time
 */
public final class DataLoader<B> implements AutoCloseable {

    /** Name of the random numbers of batches. */
    private static final String BATCH = "batch";

    private interface BatchReader<B> {
        B read(int epoch, ImmutableIntArray positions);
    }

    private final IntFunction<List<ImmutableIntArray>> order;
    private final BatchReader<B> reader;
    private final int batchesPerEpoch;
    private final int readAhead;
    private final Workers threads;
    private final AtomicLong waitedNanos = new AtomicLong();

    private DataLoader(
            IntFunction<List<ImmutableIntArray>> order,
            BatchReader<B> reader,
            int batchesPerEpoch,
            int threadCount) {
        this.order = order;
        this.reader = reader;
        this.batchesPerEpoch = batchesPerEpoch;
        this.readAhead = threadCount + 1;
        this.threads = new Workers("data-loader", threadCount);
    }

    /**
     * Creates a shuffling loader: order and augmentation depend only on seed, epoch and image.
     *
     * @throws SaccadeException if no image has objects to train on
     * @throws IllegalArgumentException if a data set of label maps has no images
     */
    public static DataLoader<Batch> training(
            Dataset dataset,
            List<Transform> transforms,
            TargetKind targets,
            int batchSize,
            int threads,
            long seed) {
        Sampler sampler = Sampler.of(dataset, targets, batchSize, seed);
        SampleReader reader = new SampleReader(dataset, transforms, targets);
        return training(reader, sampler, List.of(), threads, seed);
    }

    /**
     * Creates a loader of the batches of one rank; all ranks together read the same batches as a
     * single process.
     *
     * @param pixels channels and values of the images
     * @param transforms the transforms of an epoch, counted from 0
     * @param batchAugments steps on each batch
     * @param dropLast whether to drop the last batches if there is not one for each rank
     * @throws SaccadeException if no image has objects to train on, or, with {@code dropLast}, if
     *     an epoch has fewer batches than ranks
     */
    public static DataLoader<Batch> distributed(
            Dataset dataset,
            PixelFormat pixels,
            IntFunction<List<Transform>> transforms,
            List<BatchAugment> batchAugments,
            TargetKind targets,
            int batchSize,
            int threads,
            long seed,
            ProcessGroup ranks,
            boolean dropLast) {
        Sampler all = Sampler.of(dataset, targets, batchSize, seed);
        Sampler own = new DistributedSampler(all, ranks.rank(), ranks.worldSize(), dropLast);
        SampleReader reader = new SampleReader(dataset, transforms, targets, pixels);
        return training(reader, own, batchAugments, threads, seed);
    }

    private static DataLoader<Batch> training(
            SampleReader reader,
            Sampler sampler,
            List<BatchAugment> augments,
            int threads,
            long seed) {
        BufferPool buffers = new BufferPool();
        return new DataLoader<>(
                sampler::epoch,
                (epoch, positions) -> {
                    List<Sample> samples = new ArrayList<>();
                    try {
                        for (int position : positions.asList()) {
                            samples.add(reader.trainingSample(position, seed, epoch));
                        }
                        Batch batch = Batch.collate(samples, buffers);
                        if (!augments.isEmpty()) {
                            batch.augment(
                                    augments, SeededRandom.of(seed, BATCH, key(epoch, batch)));
                        }
                        return batch;
                    } finally {
                        samples.forEach(Sample::close);
                    }
                },
                sampler.batchesPerEpoch(),
                threads);
    }

    /** Returns the key of a batch's random numbers: the epoch and the ids of its images. */
    private static long[] key(int epoch, Batch batch) {
        return LongStream.concat(
                        LongStream.of(epoch), batch.images().stream().mapToLong(ImageInfo::id))
                .toArray();
    }

    /** Creates a loader of all images in order, one by one. */
    public static DataLoader<InferenceInput> testing(
            Dataset dataset, List<List<Transform>> pipelines, int threads) {
        IntStream all = IntStream.range(0, dataset.size());
        return testing(dataset, all, new InferenceReader(pipelines), threads);
    }

    /**
     * Creates a loader of images at some indices, one by one.
     *
     * @param positions indices of the images in the data set
     * @param reader prepares the images
     */
    public static DataLoader<InferenceInput> testing(
            Dataset dataset, IntStream positions, InferenceReader reader, int threads) {
        List<ImmutableIntArray> order = positions.mapToObj(ImmutableIntArray::of).toList();
        return new DataLoader<>(
                epoch -> order,
                (epoch, position) -> reader.read(dataset, position.get(0)),
                order.size(),
                threads);
    }

    /** Returns the number of batches per epoch of all ranks together. */
    public int batchesPerEpoch() {
        return batchesPerEpoch;
    }

    /** Returns how long callers have waited for batches so far, in seconds. */
    public double waitedSeconds() {
        return waitedNanos.get() / 1e9;
    }

    /** Returns the batches of an epoch; the caller closes each batch, and the iteration. */
    public Epoch epoch(int epoch) {
        return epoch(epoch, 0);
    }

    /** Returns the batches of an epoch from {@code firstBatch} on, without reading earlier ones. */
    public Epoch epoch(int epoch, int firstBatch) {
        return new Epoch(epoch, firstBatch);
    }

    /** Stops the threads and waits until they have released their images. */
    @Override
    public void close() {
        threads.close();
    }

    /** The batches of one epoch; not thread-safe. */
    public final class Epoch implements Iterator<B>, AutoCloseable {

        private final int epoch;
        private final Iterator<ImmutableIntArray> toRead;
        private final Deque<Future<B>> ahead = new ArrayDeque<>();

        private Epoch(int epoch, int firstBatch) {
            this.epoch = epoch;
            List<ImmutableIntArray> batches = order.apply(epoch);
            this.toRead = batches.subList(firstBatch, batches.size()).iterator();
            readAhead();
        }

        private void readAhead() {
            while (ahead.size() < readAhead && toRead.hasNext()) {
                ImmutableIntArray positions = toRead.next();
                ahead.add(threads.submit(() -> reader.read(epoch, positions)));
            }
        }

        @Override
        public boolean hasNext() {
            return !ahead.isEmpty();
        }

        @Override
        public B next() {
            if (ahead.isEmpty()) {
                throw new NoSuchElementException("the epoch has no more batches");
            }
            long start = System.nanoTime();
            B batch = get(ahead.remove());
            waitedNanos.addAndGet(System.nanoTime() - start);
            readAhead();
            return batch;
        }

        @Override
        public void close() {
            ahead.forEach(future -> future.cancel(false));
            ahead.clear();
        }
    }

    private static <B> B get(Future<B> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SaccadeException cause) {
                throw cause;
            }
            throw SaccadeException.internal(e, "reading a batch failed: %s", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.io(e, "interrupted while waiting for a batch");
        }
    }
}
