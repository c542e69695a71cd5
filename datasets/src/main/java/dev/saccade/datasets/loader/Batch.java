package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkState;
import static com.google.common.collect.ImmutableList.toImmutableList;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Sample;

import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * A batch of normalized images with their targets.
 *
 * <p>Its memory is reused by a later batch after {@link #close}, so close it only after the step
 * that uses it.
 */
public final class Batch implements AutoCloseable {

    private final BufferPool pool;
    private final BufferPool.Buffer pixels;
    private final Optional<BufferPool.Buffer> labels;
    private final int channels;
    private final Size size;
    private final ImmutableList<ImageInfo> images;
    private final ImmutableList<Instances> targets;
    private final List<ClassTarget> classTargets;
    private boolean closed;

    private Batch(BufferPool pool, Size size, List<Sample> samples) {
        long cells = size.area() * samples.size();
        boolean labeled = samples.get(0).labels().isPresent();
        this.pool = pool;
        this.channels = samples.get(0).image().channels();
        this.pixels = pool.take(DataType.FLOAT32, channels * cells);
        this.labels = labeled ? Optional.of(pool.take(DataType.INT64, cells)) : Optional.empty();
        this.size = size;
        this.images = samples.stream().map(Sample::info).collect(toImmutableList());
        this.targets = samples.stream().map(Sample::targets).collect(toImmutableList());
        this.classTargets = new ArrayList<>();
        for (Sample sample : samples) {
            sample.label().ifPresent(label -> classTargets.add(ClassTarget.of(label)));
        }
    }

    /** Collates samples; the caller still closes them. */
    public static Batch collate(List<Sample> samples) {
        return collate(samples, new BufferPool());
    }

    static Batch collate(List<Sample> samples, BufferPool pool) {
        Size size = samples.get(0).info().padded();
        int channels = samples.get(0).image().channels();
        for (Sample sample : samples) {
            size = size.union(sample.info().padded());
            if (sample.image().channels() != channels) {
                throw SaccadeException.user(
                        "%s: has %d channels, but the first image of its batch has %d",
                        sample.info().file(), sample.image().channels(), channels);
            }
        }
        if (size.area() * samples.size() > ImageInfo.MAX_PIXELS) {
            throw SaccadeException.user(
                    "a batch of %d images of %s exceeds the limit of %d million pixels; resize"
                            + " images to a smaller size, or reduce data.batch_size",
                    samples.size(), size, ImageInfo.MAX_PIXELS / 1_000_000);
        }
        Batch batch = new Batch(pool, size, samples);
        FloatBuffer pixels = batch.pixels.bytes().asFloatBuffer();
        for (int i = 0; i < samples.size(); i++) {
            samples.get(i).write(pixels, i, size);
        }
        if (batch.labels.isPresent()) {
            LongBuffer labels = batch.labels.get().bytes().asLongBuffer();
            for (Sample sample : samples) {
                sample.labels().orElseThrow().pad(batch.size).write(labels);
            }
        }
        return batch;
    }

    public Size size() {
        return size;
    }

    public List<ImageInfo> images() {
        return images;
    }

    /** Returns the objects of each image in coordinates of the batch; empty at test time. */
    public List<Instances> targets() {
        return targets;
    }

    /** Applies steps to the images and classes of this batch, in order. */
    void augment(List<BatchAugment> steps, SplittableRandom random) {
        BatchAugment.Images all =
                new BatchAugment.Images(
                        pixels.bytes().asFloatBuffer(), channels, size, classTargets);
        for (BatchAugment step : steps) {
            step.apply(all, random);
            if (classTargets.size() != images.size()) {
                throw SaccadeException.user(
                        "data.batch_augments: %s returned %d targets for %d images",
                        step.type(), classTargets.size(), images.size());
            }
        }
    }

    /**
     * Returns the pixels, [N, C, H, W], RGB if three channels; valid until this batch is closed.
     */
    public FloatBuffer pixels() {
        return pixels.bytes().asFloatBuffer().asReadOnlyBuffer();
    }

    /**
     * Copies the images to the device of a manager. On CPUs the array uses this batch's memory, so
     * the array is valid until the batch is closed. Copies to a GPU are asynchronous, except for
     * the first batches of a loader.
     */
    public ImageBatch to(NDManager manager) {
        Shape shape = new Shape(images.size(), channels, size.height(), size.width());
        return new ImageBatch(pool.array(pixels, shape, manager), images);
    }

    /**
     * Copies the label maps to the device of a manager; {@link LabelMap#IGNORE} where images are
     * padded. On CPUs the array is valid until the batch is closed.
     *
     * @return {@code [N, H, W]} int64
     * @throws IllegalStateException if the samples have no label maps
     */
    public NDArray labels(NDManager manager) {
        checkState(labels.isPresent(), "the samples of this batch have no label maps");
        Shape shape = new Shape(images.size(), size.height(), size.width());
        return pool.array(labels.get(), shape, manager);
    }

    /** Returns the class of each image; empty if the samples have no classes. */
    public List<ClassTarget> classTargets() {
        return Collections.unmodifiableList(classTargets);
    }

    /**
     * Returns the class distribution of each image, {@code [N, K]} float32.
     *
     * @throws IllegalStateException if the samples have no classes
     */
    public NDArray classTargets(int numClasses, NDManager manager) {
        checkState(!classTargets.isEmpty(), "the samples of this batch have no classes");
        float[] rows = new float[classTargets.size() * numClasses];
        for (int n = 0; n < classTargets.size(); n++) {
            ClassTarget target = classTargets.get(n);
            rows[n * numClasses + target.label()] += (float) target.weight();
            rows[n * numClasses + target.other()] += (float) (1 - target.weight());
        }
        return manager.create(rows, new Shape(classTargets.size(), numClasses));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            pool.giveBack(pixels);
            labels.ifPresent(pool::giveBack);
        }
    }
}
