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
 * Memory of the host that a GPU reads by itself: while it copies, whoever asked for it goes on. DJL
 * copies from other memory, and waits until all is done that the GPU was told before.
 *
 * <p>It comes from a pool of libtorch, which gives nothing away before it is copied.
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

    /**
     * Takes memory that is there.
     *
     * @param memory of the host, with a manager of its own
     */
    public PinnedMemory(NDArray memory) {
        this.memory = memory;
    }

    /**
     * Returns memory with arbitrary content; there must be a GPU.
     *
     * @param type float32 or int64
     * @param numbers how many of them
     */
    public static PinnedMemory allocate(DataType type, long numbers) {
        try (NDManager manager = Libtorch.newManager(Device.cpu());
                NDArray count = manager.create(numbers)) {
            NDArray memory = ALLOCATE.with(Map.of("type", Tensors.typeCode(type))).run(count);
            memory.attach(Libtorch.newManager(Device.cpu()));
            return new PinnedMemory(memory);
        }
    }

    /** Returns the content, to write to; valid until this is closed. */
    public ByteBuffer bytes() {
        return memory.toByteBuffer(true);
    }

    /**
     * Returns a copy on the device of a manager, which is there before anything that the GPU is
     * told later; what is on the CPU already is not copied.
     */
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
