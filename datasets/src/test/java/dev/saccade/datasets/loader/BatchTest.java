package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.memory.PinnedMemory;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.util.ArrayList;
import java.util.List;

class BatchTest {

    private static final Size SIZE = new Size(3, 5);

    private final List<NDManager> owners = new ArrayList<>();

    @BeforeAll
    static void loadOpenCv() {
        OpenCv.load();
    }

    /** Stands in for memory that a GPU reads, which only a machine with one has. */
    private PinnedMemory stand(DataType type, long numbers) {
        NDManager owner = Libtorch.newManager(Device.cpu());
        owners.add(owner);
        return new PinnedMemory(owner.zeros(new Shape(numbers), type));
    }

    private static Sample sample(int blue, int label) {
        Mat image = new Mat(SIZE.height(), SIZE.width(), CvType.CV_8UC3, new Scalar(blue, 2, 3));
        return Sample.of(image, ImageInfo.of(SIZE), LabelMap.filled(SIZE, label));
    }

    private static void assertHolds(Batch batch, NDManager manager) {
        NDArray pixels = batch.to(manager).pixels();
        assertEquals(new Shape(2, 3, 3, 5), pixels.getShape());
        assertArrayEquals(new float[] {3, 2, 7, 3, 2, 8}, pixels.get(":, :, 2, 4").toFloatArray());
        NDArray labels = batch.labels(manager);
        assertEquals(new Shape(2, 3, 5), labels.getShape());
        assertArrayEquals(new long[] {1, LabelMap.IGNORE}, labels.get(":, 2, 4").toLongArray());
    }

    @Test
    void pinnedMemoryHasTheSameContent() {
        BufferPool pinned = new BufferPool(this::stand);
        pinned.pin();
        try (NDManager manager = Libtorch.newManager(Device.cpu());
                Sample one = sample(7, 1);
                Sample other = sample(8, LabelMap.IGNORE)) {
            for (BufferPool pool : List.of(new BufferPool(), pinned)) {
                try (Batch batch = Batch.collate(List.of(one, other), pool)) {
                    assertHolds(batch, manager);
                    assertHolds(batch, manager);
                }
            }
        }
        assertEquals(2, owners.size());
        assertTrue(owners.stream().noneMatch(NDManager::isOpen), "the batch gave its memory back");
    }

    @Test
    void dropsUnpinnedMemoryAfterTheFirstGpu() {
        BufferPool pool = new BufferPool(this::stand);
        BufferPool.Buffer first = pool.take(DataType.FLOAT32, 8);
        pool.pin();
        pool.giveBack(first);
        BufferPool.Buffer second = pool.take(DataType.FLOAT32, 8);
        assertTrue(first.pinned().isEmpty());
        assertTrue(second.pinned().isPresent());
        pool.giveBack(second);
    }
}
