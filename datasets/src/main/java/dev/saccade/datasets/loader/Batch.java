package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkState;
import static com.google.common.collect.ImmutableList.toImmutableList;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.List;

/**
 * Samples as one block of normalized pixels, with what they show.
 *
 * <p>The block is used again for a later batch once this one is closed, so it must not be closed
 * before the step that uses it is done.
 */
public final class Batch implements AutoCloseable {

    private static final int CHANNELS = 3;

    private final BufferPool pool;
    private final ByteBuffer memory;
    private final Size size;
    private final ImmutableList<ImageInfo> images;
    private final ImmutableList<Instances> targets;
    private final boolean labeled;
    private boolean closed;

    private Batch(
            BufferPool pool, ByteBuffer memory, Size size, List<Sample> samples, boolean labeled) {
        this.pool = pool;
        this.memory = memory;
        this.size = size;
        this.images = samples.stream().map(Sample::info).collect(toImmutableList());
        this.targets = samples.stream().map(Sample::targets).collect(toImmutableList());
        this.labeled = labeled;
    }

    /** Returns the batch of samples; the caller still closes them. */
    public static Batch collate(List<Sample> samples) {
        return collate(samples, new BufferPool());
    }

    static Batch collate(List<Sample> samples, BufferPool pool) {
        Size size = samples.get(0).info().padded();
        for (Sample sample : samples) {
            size = size.union(sample.info().padded());
        }
        boolean labeled = samples.get(0).labels().isPresent();
        long cells = size.area() * samples.size();
        if (cells > ImageInfo.MOST_PIXELS) {
            throw SaccadeException.user(
                    "a batch of %d images of %s has more pixels than can be held, %d million;"
                            + " resize to less, or set a smaller data.batch_size",
                    samples.size(), size, ImageInfo.MOST_PIXELS / 1_000_000);
        }
        long bytes = cells * (CHANNELS * Float.BYTES + (labeled ? Long.BYTES : 0));
        Batch batch = new Batch(pool, pool.take(bytes), size, samples, labeled);
        FloatBuffer pixels = batch.pixelBytes().asFloatBuffer();
        for (int i = 0; i < samples.size(); i++) {
            samples.get(i).write(pixels, i, size);
        }
        if (labeled) {
            LongBuffer labels = batch.labelBytes().asLongBuffer();
            for (Sample sample : samples) {
                sample.labels().orElseThrow().pad(size).write(labels);
            }
        }
        return batch;
    }

    /** Labels come first, so that they lie on multiples of 8 bytes. */
    private ByteBuffer labelBytes() {
        int length = labeled ? Math.toIntExact(size.area() * images.size() * Long.BYTES) : 0;
        return memory.slice(0, length).order(memory.order());
    }

    private ByteBuffer pixelBytes() {
        int start = labelBytes().capacity();
        return memory.slice(start, memory.limit() - start).order(memory.order());
    }

    /** Returns the size that all images are padded to. */
    public Size size() {
        return size;
    }

    /** Returns what happened to each image. */
    public List<ImageInfo> images() {
        return images;
    }

    /** Returns the objects of each image in the coordinates of the batch; none at test time. */
    public List<Instances> targets() {
        return targets;
    }

    /** Returns the pixels, [N, 3, H, W] RGB; valid until this batch is closed. */
    public FloatBuffer pixels() {
        return pixelBytes().asFloatBuffer().asReadOnlyBuffer();
    }

    /**
     * Returns the images as an array on the device of a manager. On CPUs the array is this batch's
     * own memory: it is valid until the batch is closed.
     */
    public ImageBatch on(NDManager manager) {
        Shape shape = new Shape(images.size(), CHANNELS, size.height(), size.width());
        return new ImageBatch(manager.create(pixelBytes(), shape, DataType.FLOAT32), images);
    }

    /**
     * Returns the class of every pixel as an array on the device of a manager, {@link
     * LabelMap#IGNORE} where an image is padded. On CPUs the array is this batch's own memory: it
     * is valid until the batch is closed.
     *
     * @return {@code [N, H, W]} int64
     * @throws IllegalStateException if the samples have no labels
     */
    public NDArray labels(NDManager manager) {
        checkState(labeled, "the samples of this batch have no labels");
        Shape shape = new Shape(images.size(), size.height(), size.width());
        return manager.create(labelBytes(), shape, DataType.INT64);
    }

    /** Gives the memory back for the next batch. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            pool.giveBack(memory);
        }
    }
}
