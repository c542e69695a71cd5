package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/** Requests more memory than any machine has. */
class OutOfMemoryTest {

    private static final long PETABYTE = 1L << 50;

    private static void assertReported(String reason, Supplier<?> work) {
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> OutOfMemory.TRAINING.call(work));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("out of memory: lower data.batch_size"), e.getMessage());
        assertTrue(e.getMessage().contains(reason), e.getMessage());
        assertEquals(1, e.getMessage().lines().count(), e.getMessage());
        assertTrue(e.getCause() != null, "the error itself is kept");
    }

    @Test
    void reportsLibtorchErrors() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            assertReported("allocate " + PETABYTE, () -> manager.zeros(new Shape(PETABYTE / 4)));
            assertReported("overflowed", () -> manager.zeros(new Shape(Long.MAX_VALUE)));
        }
    }

    @Test
    void reportsScriptErrors() {
        Script outer =
                Script.compile(
                        "(x: Tensor, y: Tensor) -> Tensor", "return torch.unsqueeze(x, 1) * y");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray half = manager.zeros(new Shape(1 << 24));
            assertReported("allocate " + PETABYTE, () -> outer.run(half, half));
        }
    }

    @Test
    void reportsHeapErrors() {
        assertReported("-Xmx", () -> new long[Integer.MAX_VALUE]);
    }

    @Test
    void reportsErrorsOfOtherThreads() {
        assertReported(
                "-Xmx",
                () -> {
                    try {
                        return CompletableFuture.supplyAsync(() -> new long[Integer.MAX_VALUE])
                                .get();
                    } catch (InterruptedException | ExecutionException e) {
                        throw SaccadeException.internal(e, "reading a batch failed");
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 1",
                "CUDA error: out of memory\nCUDA kernel errors might be reported later",
                "std::bad_alloc",
                "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
                "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                "OpenCV(4.9.0) alloc.cpp:73: error: (-4:Insufficient memory) Failed to allocate 9 b"
            })
    void recognizesMessagesOfLibraries(String message) {
        assertReported(
                message.lines().findFirst().orElseThrow(),
                () -> {
                    throw new IllegalStateException(message);
                });
    }

    @Test
    void keepsTheInnermostAdvice() {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                OutOfMemory.TRAINING.call(
                                        () ->
                                                OutOfMemory.LOADING.call(
                                                        () -> new long[Integer.MAX_VALUE])));
        assertTrue(e.getMessage().contains("use a smaller model"), e.getMessage());
    }

    @Test
    void keepsOtherErrors() {
        RuntimeException bug = new IllegalStateException("a bug");
        RuntimeException caught =
                assertThrows(
                        RuntimeException.class,
                        () ->
                                OutOfMemory.TRAINING.call(
                                        () -> {
                                            throw bug;
                                        }));
        assertSame(bug, caught);
    }
}
