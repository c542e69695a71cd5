package dev.saccade.core.distributed;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

@Timeout(120)
class ProcessGroupTest {

    private static final Script STRIDES =
            Script.compile("(x: Tensor) -> Tensor", "return torch.tensor(torch.stride(x))");

    @BeforeEach
    void assumeOperators() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void reducesGathersAndBroadcasts(int worldSize) throws Exception {
        List<Object> results =
                Ranks.onAll(
                        worldSize,
                        30,
                        group -> {
                            try (NDManager manager = Libtorch.newManager(Device.cpu())) {
                                int rank = group.rank();
                                NDArray small = manager.create(new float[] {rank, 1});
                                small.setRequiresGradient(true);
                                NDArray turned =
                                        manager.arange(6f).reshape(2, 3).add(rank).transpose();
                                NDArray large = manager.ones(new Shape(3, 3_000_000)).mul(rank);
                                group.allReduce(List.of(small, turned, large));
                                NDArray spread = manager.create(new long[] {rank, 5});
                                group.broadcast(List.of(spread), worldSize - 1);
                                group.barrier();
                                NDArray gathered = group.allGather(manager.create(10L + rank));
                                assertEquals(worldSize, group.worldSize());
                                return List.of(
                                        small.toFloatArray(),
                                        turned.toFloatArray(),
                                        new float[] {
                                            large.max().getFloat(), large.min().getFloat()
                                        },
                                        spread.toLongArray(),
                                        gathered.toLongArray());
                            }
                        });
        float sum = worldSize * (worldSize - 1) / 2f;
        for (Object result : results) {
            assertTrue(result instanceof List, String.valueOf(result));
            List<?> found = (List<?>) result;
            assertArrayEquals(new float[] {sum, worldSize}, (float[]) found.get(0));
            float[] turned = new float[6];
            int[] columnMajor = {0, 3, 1, 4, 2, 5};
            for (int i = 0; i < 6; i++) {
                turned[i] = worldSize * columnMajor[i] + sum;
            }
            assertArrayEquals(turned, (float[]) found.get(1));
            assertArrayEquals(new float[] {sum, sum}, (float[]) found.get(2));
            assertArrayEquals(new long[] {worldSize - 1, 5}, (long[]) found.get(3));
            long[] all = new long[worldSize];
            for (int i = 0; i < worldSize; i++) {
                all[i] = 10L + i;
            }
            assertArrayEquals(all, (long[]) found.get(4));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void sumsGradientsInParameterMemoryFormat(int worldSize) throws Exception {
        int large = 7_000_000;
        List<Object> results =
                Ranks.onAll(
                        worldSize,
                        30,
                        group -> {
                            try (NDManager manager = Libtorch.newManager(Device.cpu())) {
                                float one = group.rank() + 1;
                                NDArray kernel = manager.arange(24f).reshape(2, 3, 2, 2);
                                NDArray shared = manager.full(new Shape(3), one);
                                List<NDArray> like =
                                        List.of(
                                                MemoryFormat.channelsLast(kernel),
                                                manager.zeros(new Shape(3)),
                                                manager.zeros(new Shape(3)),
                                                manager.zeros(new Shape(large)),
                                                manager.zeros(new Shape(2), DataType.FLOAT64),
                                                manager.zeros(new Shape(5)));
                                like.get(0).setRequiresGradient(true);
                                List<NDArray> gradients =
                                        List.of(
                                                kernel.mul(one),
                                                shared,
                                                shared.reshape(3),
                                                manager.full(new Shape(large), one),
                                                manager.ones(new Shape(2), DataType.FLOAT64),
                                                group.rank() == 1
                                                        ? manager.ones(new Shape(5))
                                                        : manager.zeros(new Shape(0)));
                                List<NDArray> sums = group.allReduce(gradients, like);
                                assertSame(gradients.get(0).getManager(), sums.get(0).getManager());
                                assertArrayEquals(strides(like.get(0)), strides(sums.get(0)));
                                assertEquals(DataType.FLOAT64, sums.get(4).getDataType());
                                assertEquals(one, gradients.get(1).getFloat(0));
                                return List.of(
                                        sums.get(0).toFloatArray(),
                                        sums.get(1).toFloatArray(),
                                        sums.get(2).toFloatArray(),
                                        new float[] {
                                            sums.get(3).min().getFloat(),
                                            sums.get(3).max().getFloat()
                                        },
                                        sums.get(5).toFloatArray());
                            }
                        });
        float sum = worldSize * (worldSize + 1) / 2f;
        float[] kernel = new float[24];
        for (int i = 0; i < kernel.length; i++) {
            kernel[i] = i * sum;
        }
        for (Object result : results) {
            assertTrue(result instanceof List, String.valueOf(result));
            List<?> found = (List<?>) result;
            assertArrayEquals(kernel, (float[]) found.get(0));
            assertArrayEquals(new float[] {sum, sum, sum}, (float[]) found.get(1));
            assertArrayEquals(new float[] {sum, sum, sum}, (float[]) found.get(2));
            assertArrayEquals(new float[] {sum, sum}, (float[]) found.get(3));
            assertArrayEquals(new float[] {1, 1, 1, 1, 1}, (float[]) found.get(4));
        }
    }

    private static long[] strides(NDArray x) {
        return STRIDES.run(x).toLongArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void exchangesBytesOfAnyLength(int worldSize) throws Exception {
        List<Object> results =
                Ranks.onAll(
                        worldSize,
                        30,
                        group -> {
                            byte[] own = bytes(group.rank());
                            List<byte[]> all = new ArrayList<>(group.allGather(own));
                            all.add(group.broadcast(own, worldSize - 1));
                            all.add(group.broadcast(own, 0));
                            return all;
                        });
        for (Object result : results) {
            assertTrue(result instanceof List, String.valueOf(result));
            List<?> found = (List<?>) result;
            for (int rank = 0; rank < worldSize; rank++) {
                assertArrayEquals(bytes(rank), (byte[]) found.get(rank));
            }
            assertArrayEquals(bytes(worldSize - 1), (byte[]) found.get(worldSize));
            assertArrayEquals(bytes(0), (byte[]) found.get(worldSize + 1));
        }
    }

    /** Returns the bytes of a rank; none for rank 0. */
    private static byte[] bytes(int rank) {
        byte[] bytes = new byte[rank * 300];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i + rank);
        }
        return bytes;
    }

    private static String message(Object result) {
        assertTrue(result instanceof SaccadeException, String.valueOf(result));
        SaccadeException error = (SaccadeException) result;
        assertEquals(SaccadeException.Kind.IO, error.kind());
        return error.getMessage();
    }

    @Test
    void reportsTheReasonOfAFailedRank() throws Exception {
        List<Object> results =
                Ranks.onAll(
                        3,
                        20,
                        group -> {
                            if (group.rank() == 1) {
                                group.fail("data.root: there is no \"such\" folder");
                                return "failed";
                            }
                            group.barrier();
                            return "never";
                        });
        for (int rank : new int[] {0, 2}) {
            assertEquals(
                    Text.format(
                            "rank %d: rank 1 has ended: data.root: there is no  such  folder",
                            rank),
                    message(results.get(rank)));
        }
    }

    @Test
    void namesRanksThatHaveLeft() throws Exception {
        List<Object> results =
                Ranks.onAll(
                        3,
                        20,
                        group -> {
                            sleep(500L * group.rank());
                            if (group.rank() > 0) {
                                group.barrier();
                            }
                            return "done";
                        });
        assertEquals("done", results.get(0));
        for (int rank : new int[] {1, 2}) {
            assertTrue(
                    message(results.get(rank))
                            .matches("rank [12]: ranks? 0(, [12])? left before the others"),
                    message(results.get(rank)));
        }
    }

    @Test
    void namesRanksThatMissACollective() throws Exception {
        List<Object> results =
                Ranks.onAll(
                        3,
                        2,
                        group -> {
                            if (group.rank() == 2) {
                                sleep(6000);
                                return "late";
                            }
                            group.barrier();
                            return "never";
                        });
        for (int rank : new int[] {0, 1}) {
            assertEquals(
                    Text.format("rank %d: rank 2 did not come to what all ranks do together", rank),
                    message(results.get(rank)));
        }
    }

    @Test
    void namesRanksThatNeverJoin() throws Exception {
        int port = Rendezvous.freePort();
        SaccadeException error =
                assertThrows(
                        SaccadeException.class, () -> ProcessGroup.join(Ranks.at(port, 0, 3, 1.5)));
        assertEquals("rank 0: ranks 1, 2 of 3 did not come within 1.5 s", message(error));
        SaccadeException alone =
                assertThrows(
                        SaccadeException.class, () -> ProcessGroup.join(Ranks.at(port, 1, 2, 1.5)));
        assertTrue(
                message(alone).startsWith("rank 1: rank 0 does not answer on 127.0.0.1:" + port),
                alone.getMessage());
    }

    @Test
    void reportsAPortInUse() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            SaccadeException error =
                    assertThrows(
                            SaccadeException.class,
                            () -> ProcessGroup.join(Ranks.at(taken.getLocalPort(), 0, 2, 2)));
            assertTrue(
                    message(error)
                            .startsWith("rank 0: cannot wait for the other ranks on 127.0.0.1:"),
                    error.getMessage());
        }
    }

    @Test
    void singleRankUsesItsAssignedGpu() {
        Rendezvous at = new Rendezvous("127.0.0.1", 1, 0, 1, 999, Duration.ofSeconds(1));
        try (ProcessGroup alone = ProcessGroup.join(at)) {
            String error =
                    assertThrows(SaccadeException.class, () -> alone.device("cuda")).getMessage();
            assertTrue(error.contains("cuda:999"), error);
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
