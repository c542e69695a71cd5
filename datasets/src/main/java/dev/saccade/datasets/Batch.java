package dev.saccade.datasets;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;

/**
 * Samples as one block of normalised pixels, with what they show.
 *
 * <p>The block is used again for a later batch once this one is closed, so it must not be closed
 * before the step that uses it is done.
 */
public final class Batch implements AutoCloseable {

    private static final int CHANNELS = 3;

    private final BufferPool pool;
    private final ByteBuffer pixels;
    private final Size size;
    private final ImmutableList<ImageInfo> images;
    private final ImmutableList<Instances> targets;
    private boolean closed;

    private Batch(
            BufferPool pool,
            ByteBuffer pixels,
            Size size,
            List<ImageInfo> images,
            List<Instances> targets) {
        this.pool = pool;
        this.pixels = pixels;
        this.size = size;
        this.images = ImmutableList.copyOf(images);
        this.targets = ImmutableList.copyOf(targets);
    }

    /** Returns the batch of samples; the caller still closes them. */
    public static Batch of(List<Sample> samples) {
        return of(samples, new BufferPool());
    }

    static Batch of(List<Sample> samples, BufferPool pool) {
        Size size = samples.get(0).info().padded();
        for (Sample sample : samples) {
            size = size.union(sample.info().padded());
        }
        long values = CHANNELS * size.area() * samples.size();
        ByteBuffer pixels = pool.take(values * Float.BYTES);
        FloatBuffer floats = pixels.asFloatBuffer();
        for (int i = 0; i < samples.size(); i++) {
            samples.get(i).write(floats, i, size);
        }
        List<ImageInfo> images = samples.stream().map(Sample::info).toList();
        List<Instances> targets = samples.stream().map(Sample::targets).toList();
        return new Batch(pool, pixels, size, images, targets);
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
        return pixels.asFloatBuffer().asReadOnlyBuffer();
    }

    /**
     * Returns the images as an array on the device of a manager. On CPUs the array is this batch's
     * own memory: it is valid until the batch is closed.
     */
    public ImageBatch on(NDManager manager) {
        Shape shape = new Shape(images.size(), CHANNELS, size.height(), size.width());
        NDArray array =
                manager.create(pixels.duplicate().order(pixels.order()), shape, DataType.FLOAT32);
        return new ImageBatch(array, images);
    }

    /** Gives the memory of the pixels back for the next batch. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            pool.giveBack(pixels);
        }
    }
}
