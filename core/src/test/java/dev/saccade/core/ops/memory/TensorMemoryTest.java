package dev.saccade.core.ops.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.script.Kernels;

import org.junit.jupiter.api.Test;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

class TensorMemoryTest {

    private static final long MIB = 1L << 20;

    private static TensorMemory use() {
        return TensorMemory.of(Device.cpu()).orElseThrow();
    }

    @Test
    void peakRemainsAfterTensorsAreFreed() {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            TensorMemory.resetPeak(Device.cpu());
            long before = use().bytes();
            assertEquals(before, use().peakBytes());
            NDArray one = manager.zeros(new Shape(MIB));
            assertEquals(before + 4 * MIB, use().bytes());
            try (NDArray other = one.add(one)) {
                assertEquals(other.size(), MIB);
                assertEquals(before + 8 * MIB, use().bytes());
            }
            assertEquals(before + 4 * MIB, use().bytes());
            assertEquals(before + 8 * MIB, use().peakBytes());
            TensorMemory.resetPeak(Device.cpu());
            assertEquals(before + 4 * MIB, use().peakBytes());
        }
    }

    @Test
    void countsAllThreads() throws ExecutionException, InterruptedException {
        assertTrue(Kernels.status().loaded());
        assertTrue(TensorMemory.isFollowed());
        assertTrue(CompletableFuture.supplyAsync(TensorMemory::isFollowed).get());
    }

    @Test
    void freeMemoryIsLessThanTotal() {
        DeviceMemory machine = DeviceMemory.of(Device.cpu()).orElseThrow();
        assertTrue(machine.freeBytes() > 0, machine.toString());
        assertTrue(machine.totalBytes() > machine.freeBytes(), machine.toString());
        assertTrue(DeviceMemory.residentBytes() <= DeviceMemory.peakResidentBytes());
    }
}
