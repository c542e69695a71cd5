package dev.saccade.core.ops.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class HostTransfersTest {

    private final NDManager manager = Libtorch.newManager(Device.cpu());

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void countsReadsAndWritesByLine() {
        HostTransfers transfers =
                HostTransfers.count(
                        () -> {
                            for (int i = 0; i < 3; i++) {
                                NDArray x = Tensors.of(manager, new float[] {1, 2}, new Shape(2));
                                assertEquals(2, Tensors.readFloats(x).length);
                            }
                            Tensors.readLongs(Tensors.of(manager, new long[] {1}, new Shape(1)));
                        });
        assertEquals(List.of(3, 1), List.copyOf(transfers.reads().values()));
        assertEquals(List.of(3, 1), List.copyOf(transfers.writes().values()));
        String place = transfers.reads().keySet().iterator().next();
        assertTrue(place.matches("HostTransfersTest\\.lambda.*:\\d+"), place);
    }

    @Test
    void countsImplicitReads() {
        assumeTrue(Kernels.status().loaded(), Kernels.status().reason());
        Script hidden =
                Script.compile(
                        "(x: Tensor) -> Tensor",
                        "return torch.add(x, int(torch.sum(x)) + torch.size(torch.nonzero(x), 0))");
        NDArray x = Tensors.of(manager, new float[] {1, 0, 2}, new Shape(3));
        HostTransfers transfers = HostTransfers.count(() -> hidden.run(x));
        assertEquals(List.of(2), List.copyOf(transfers.reads().values()));
        assertEquals(Map.of(), HostTransfers.count(() -> x.add(x)).reads());
    }

    @Test
    void scalarsAreNotTransferred() {
        HostTransfers transfers =
                HostTransfers.count(
                        () -> {
                            NDArray scalar = Tensors.of(manager, 2.5f);
                            assertEquals(new Shape(), scalar.getShape());
                        });
        assertEquals(Map.of(), transfers.writes());
    }

    @Test
    void countsOnlyThisThreadAndRestoresOuterCounts() {
        NDArray x = Tensors.of(manager, new float[] {1}, new Shape(1));
        HostTransfers[] inner = new HostTransfers[1];
        HostTransfers outer =
                HostTransfers.count(
                        () -> {
                            inner[0] = HostTransfers.count(() -> Tensors.readFloats(x));
                            Thread other = new Thread(() -> Tensors.readFloats(x));
                            other.start();
                            join(other);
                        });
        assertEquals(1, inner[0].reads().size());
        assertEquals(Map.of(), outer.reads());
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
