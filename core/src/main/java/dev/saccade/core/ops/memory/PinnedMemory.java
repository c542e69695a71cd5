package dev.saccade.core.ops.memory;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Text;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * Page-locked host memory, from which a GPU copies asynchronously. (DJL copies from pageable memory
 * and waits for all pending GPU work.)
 */
public final class PinnedMemory implements AutoCloseable {

    private static final ScriptTemplate ALLOCATE =
            ScriptTemplate.of(
                    "(numbers: Tensor) -> Tensor",
                    """
                    cpu = torch.device("cpu")
                    n = int(numbers)
                    return torch.empty([n], dtype={type}, layout=None, device=cpu, pin_memory=True)
                    """);

    private final NDArray memory;

    /** Wraps host memory; {@link #close} also closes its manager. */
    public PinnedMemory(NDArray memory) {
        this.memory = memory;
    }

    /** Allocates uninitialized float32 or int64 values; requires a GPU. */
    public static PinnedMemory allocate(DataType type, long numbers) {
        try (NDManager manager = Libtorch.newManager(Device.cpu());
                NDArray count = manager.create(numbers)) {
            NDArray memory = ALLOCATE.with(Map.of("type", Tensors.typeCode(type))).run(count);
            memory.attach(Libtorch.newManager(Device.cpu()));
            return new PinnedMemory(memory);
        }
    }

    /** Returns the content for writing; valid until {@link #close}. */
    public ByteBuffer bytes() {
        return memory.toByteBuffer(true);
    }

    /** Returns a copy on the manager's GPU, in order with other GPU work; on a CPU, a view. */
    public NDArray copyTo(NDManager manager, Shape shape) {
        String device = Text.format("torch.device(\"%s\")", Devices.name(manager.getDevice()));
        try (NDArray copy = Script.call("torch.to", memory, device, null, true)) {
            copy.attach(manager);
            return copy.reshape(shape);
        }
    }

    @Override
    public void close() {
        NDManager owner = memory.getManager();
        memory.close();
        owner.close();
    }
}
