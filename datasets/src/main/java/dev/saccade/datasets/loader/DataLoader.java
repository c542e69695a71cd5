package dev.saccade.datasets.loader;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

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

/**
 * Reads batches ahead of their use, on threads of its own.
 *
 * <p>What a batch holds, and where it comes, does not depend on the number of threads. At most one
 * batch a thread and one more are held ready. A photograph that cannot be used ends the iteration
 * with a {@link SaccadeException} that names its id and file.
 *
 * @param <B> what a batch is: {@link Batch} in training, {@link InferenceInput} at test time
 */
public final class DataLoader<B> implements AutoCloseable {

    /** Reads one batch, given its positions in the data set. */
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
     * Returns a loader that shuffles: the order is a function of seed and epoch, the augmentation
     * of seed, epoch and image.
     *
     * @param targets what is learned
     * @throws SaccadeException if there is nothing to train on
     */
    public static DataLoader<Batch> training(
            Dataset dataset,
            List<Transform> transforms,
            TargetKind targets,
            int batchSize,
            int threads,
            long seed) {
        Sampler sampler = Sampler.of(dataset, targets, batchSize, seed);
        return training(dataset, transforms, targets, sampler, threads, seed);
    }

    /**
     * Returns a loader of the batches that one of several ranks learns from: together they read
     * what one process would.
     *
     * @param ranks tells which rank this is
     * @param dropLast whether batches that are too few for all ranks are left out, so that none
     *     ever lacks one
     * @throws SaccadeException if there is nothing to train on, or not enough for every rank
     */
    public static DataLoader<Batch> distributed(
            Dataset dataset,
            List<Transform> transforms,
            TargetKind targets,
            int batchSize,
            int threads,
            long seed,
            ProcessGroup ranks,
            boolean dropLast) {
        Sampler all = Sampler.of(dataset, targets, batchSize, seed);
        Sampler own = new DistributedSampler(all, ranks.rank(), ranks.worldSize(), dropLast);
        return training(dataset, transforms, targets, own, threads, seed);
    }

    private static DataLoader<Batch> training(
            Dataset dataset,
            List<Transform> transforms,
            TargetKind targets,
            Sampler sampler,
            int threads,
            long seed) {
        SampleReader reader = new SampleReader(dataset, transforms, targets);
        BufferPool buffers = new BufferPool();
        return new DataLoader<>(
                sampler::epoch,
                (epoch, positions) -> {
                    List<Sample> samples = new ArrayList<>();
                    try {
                        for (int position : positions.asList()) {
                            samples.add(reader.trainingSample(position, seed, epoch));
                        }
                        return Batch.collate(samples, buffers);
                    } finally {
                        samples.forEach(Sample::close);
                    }
                },
                sampler.batchesPerEpoch(),
                threads);
    }

    /** Returns a loader of all photographs in their order, one by one. */
    public static DataLoader<InferenceInput> testing(
            Dataset dataset, List<List<Transform>> pipelines, int threads) {
        IntStream all = IntStream.range(0, dataset.size());
        return testing(dataset, all, new InferenceReader(pipelines), threads);
    }

    /**
     * Returns a loader of some photographs, one by one.
     *
     * @param positions in the data set
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

    /** Returns the number of batches of every epoch, those of all ranks together. */
    public int batchesPerEpoch() {
        return batchesPerEpoch;
    }

    /** Returns how long callers have waited for batches so far, in seconds. */
    public double waitedSeconds() {
        return waitedNanos.get() / 1e9;
    }

    /** Returns the batches of an epoch; the caller closes each, and the iteration. */
    public Epoch epoch(int epoch) {
        return epoch(epoch, 0);
    }

    /** Returns the batches of an epoch from one on, as after a resume; nothing before is read. */
    public Epoch epoch(int epoch, int firstBatch) {
        return new Epoch(epoch, firstBatch);
    }

    /** Stops the threads and waits until they have let go of their images. */
    @Override
    public void close() {
        threads.close();
    }

    /** The batches of one epoch, read ahead while they are used; not safe for many threads. */
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
                throw new NoSuchElementException("the epoch is over");
            }
            long start = System.nanoTime();
            B batch = get(ahead.remove());
            waitedNanos.addAndGet(System.nanoTime() - start);
            readAhead();
            return batch;
        }

        /** Drops what was read ahead. */
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
