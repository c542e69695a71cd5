package dev.saccade.core.distributed;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.Streams;

import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * One of the ranks that compute together, and what they all do at the same time: PyTorch's {@code
 * torch.distributed}, through the c10d and Gloo that libtorch has inside.
 *
 * <p>All ranks call the same methods in the same order, each from one thread at a time. A rank that
 * dies, hangs or ends with {@link #fail} ends the call of the others within the timeout, with an
 * error of kind io that names it. Alone, every method does nothing.
 */
public final class ProcessGroup implements AutoCloseable {

    private static final ThreadLocal<ProcessGroup> CURRENT =
            ThreadLocal.withInitial(ProcessGroup::alone);

    /** So many bytes are gathered at once; what is longer takes two times. */
    private static final int BLOCK = 1024;

    private static final Pattern TOLD = Pattern.compile("ranks: ([^\\n]*)");

    /** What would end a text within the text of a script. */
    private static final Pattern SPECIAL = Pattern.compile("[\"\\\\\\p{Cntrl}]");

    private final int rank;
    private final int worldSize;
    private final int localRank;
    private final String name;
    private final String reachedAt;
    private final Map<String, Script> scripts = new TreeMap<>();
    private boolean open;
    private boolean othersFailed;

    private ProcessGroup(int rank, int worldSize, int localRank, String name, String reachedAt) {
        this.rank = rank;
        this.worldSize = worldSize;
        this.localRank = localRank;
        this.name = name;
        this.reachedAt = reachedAt;
        this.open = worldSize > 1;
    }

    /** Returns the only rank. */
    public static ProcessGroup alone() {
        return new ProcessGroup(0, 1, 0, "", "");
    }

    /**
     * Waits until all ranks have come, and joins them.
     *
     * @throws SaccadeException of kind io that names the ranks that did not come in time, or says
     *     why they cannot reach one another; of kind user, if the fused operators are off or the
     *     name of a machine is none
     */
    public static ProcessGroup join(Rendezvous at) {
        if (at.worldSize() == 1) {
            return new ProcessGroup(0, 1, at.localRank(), "", "");
        }
        if (!Kernels.status().loaded()) {
            throw SaccadeException.user(
                    "several ranks need the fused operators, which are off: %s",
                    Kernels.status().reason());
        }
        // A name for each rank, since several may be threads of one process.
        String name = UUID.randomUUID().toString();
        String reachedAt =
                Text.format(
                        "\"%s\", %d, %s",
                        plain(at.masterAddress()),
                        at.masterPort(),
                        at.timeout().toMillis() / 1000.0);
        ProcessGroup group =
                new ProcessGroup(at.rank(), at.worldSize(), at.localRank(), name, reachedAt);
        group.withToken(
                Text.format(
                        "join_group(x, \"%s\", %s, \"%s\", %d, %d)",
                        name, reachedAt, at.ownAddress(), at.rank(), at.worldSize()));
        // A rank that leaves at once would break connections that other ranks are still opening.
        group.barrier();
        return group;
    }

    /** Returns the ranks that this thread computes together with: none but {@link #during}. */
    public static ProcessGroup current() {
        return CURRENT.get();
    }

    /**
     * Runs what computes together with other ranks by itself, such as a model with synchronized
     * normalizations.
     *
     * @param ranks those that all run the same
     */
    public static <T> T during(ProcessGroup ranks, Supplier<T> body) {
        ProcessGroup outer = CURRENT.get();
        CURRENT.set(ranks);
        try {
            return body.get();
        } finally {
            CURRENT.set(outer);
        }
    }

    /** Returns the name by which operators know this rank in its group. */
    public String name() {
        return name;
    }

    /** Returns which of the ranks this is, from 0. */
    public int rank() {
        return rank;
    }

    /** Returns how many ranks there are. */
    public int worldSize() {
        return worldSize;
    }

    /**
     * Returns the device that a name means on this rank, as {@link Devices#choose} does alone and
     * {@link Devices#chooseForRank} among several or with a GPU of its own.
     */
    public Device device(String called) {
        return worldSize == 1 && localRank == 0
                ? Devices.here().choose(called)
                : Devices.here().chooseForRank(called, localRank);
    }

    /**
     * Lets NCCL carry from now on what lies on a GPU, where libtorch has it; all ranks do so at the
     * same time. Without it, or on CPUs, Gloo carries everything.
     */
    public void use(Device device) {
        if (worldSize > 1 && device.isGpu() && Nccl.status().loaded()) {
            withToken("add_nccl(x, \"" + name + "\", " + reachedAt + ")");
        }
    }

    /**
     * Sums arrays over the ranks, in place; the sums are the same on all of them to the last bit.
     *
     * @param arrays of the same types and shapes in the same order on all ranks
     */
    public void allReduce(List<NDArray> arrays) {
        if (worldSize > 1 && !arrays.isEmpty()) {
            String text = "ops.saccade.all_reduce_(x, \"" + name + "\")\nreturn x[0]";
            inPlace(arrays, text);
        }
    }

    /**
     * Returns the mean of an array over the ranks, the same on all of them to the last bit.
     *
     * @param x floating-point numbers that nothing is differentiated by, of the same type and shape
     *     on all ranks
     * @return an array of the manager of x; alone, x itself
     */
    public NDArray mean(NDArray x) {
        if (worldSize == 1) {
            return x;
        }
        NDArray mean = x.div(worldSize);
        allReduce(List.of(mean));
        return mean;
    }

    /**
     * Returns sums of gradients over the ranks, the same on all of them to the last bit.
     *
     * @param gradients one for each parameter, of which two may share their memory; alone, this is
     *     what is returned. Of several ranks one that has none for a parameter gives an empty one,
     *     which counts as zeros
     * @param like the parameters, as whose numbers the sums lie in memory; of the same types and
     *     shapes in the same order on all ranks
     * @return arrays of the manager of the first gradient; some lie in one piece of memory, which
     *     is freed with the last of them
     */
    public List<NDArray> allReduce(List<NDArray> gradients, List<NDArray> like) {
        if (worldSize == 1 || gradients.isEmpty()) {
            return gradients;
        }
        Script script =
                script(
                        "(x: List[Tensor], like: List[Tensor]) -> List[Tensor]",
                        "return ops.saccade.all_reduce(x, like, \"" + name + "\")");
        return NoGrad.call(() -> told(() -> script.runLists(List.of(gradients, like))));
    }

    /**
     * Gives arrays the values that they have on one rank.
     *
     * @param root that rank
     */
    public void broadcast(List<NDArray> arrays, int root) {
        if (worldSize > 1 && !arrays.isEmpty()) {
            inPlace(
                    arrays,
                    "ops.saccade.broadcast_(x, " + root + ", \"" + name + "\")\nreturn x[0]");
        }
    }

    /**
     * Returns the arrays of all ranks.
     *
     * @param x of the same type and shape on all ranks
     * @return {@code [worldSize, ...]}, of the manager of x
     */
    public NDArray allGather(NDArray x) {
        if (worldSize == 1) {
            return x.expandDims(0);
        }
        String text = "return ops.saccade.all_gather(x, \"" + name + "\")";
        return told(() -> script("(x: Tensor) -> Tensor", text).runAll(x)).singletonOrThrow();
    }

    /**
     * Returns the bytes that one rank has.
     *
     * @param root that rank; what the others give does not matter
     */
    public byte[] broadcast(byte[] bytes, int root) {
        if (worldSize == 1) {
            return bytes;
        }
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDArray length = manager.create(bytes.length);
            broadcast(List.of(length), root);
            NDArray padded = padded(manager, bytes, length.getInt());
            broadcast(List.of(padded), root);
            return Arrays.copyOf(padded.toByteArray(), length.getInt());
        }
    }

    /**
     * Returns the bytes of all ranks.
     *
     * @param bytes any number of them
     */
    public List<byte[]> allGather(byte[] bytes) {
        if (worldSize == 1) {
            return List.of(bytes);
        }
        byte[] block = new byte[BLOCK];
        ByteBuffer.wrap(block)
                .putInt(bytes.length)
                .put(bytes, 0, Math.min(bytes.length, BLOCK - Integer.BYTES));
        List<byte[]> blocks = gather(block);
        List<Integer> lengths = blocks.stream().map(all -> ByteBuffer.wrap(all).getInt()).toList();
        int longest = Collections.max(lengths);
        boolean fits = longest <= BLOCK - Integer.BYTES;
        List<byte[]> found = fits ? blocks : gather(Arrays.copyOf(bytes, longest));
        int first = fits ? Integer.BYTES : 0;
        return Streams.zip(
                        found.stream(),
                        lengths.stream(),
                        (all, length) -> Arrays.copyOfRange(all, first, first + length))
                .toList();
    }

    /** Returns the bytes of all ranks, which are as many on each. */
    private List<byte[]> gather(byte[] bytes) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            byte[] all = allGather(manager.create(bytes)).toByteArray();
            int step = bytes.length;
            return IntStream.range(0, worldSize)
                    .mapToObj(r -> Arrays.copyOfRange(all, r * step, (r + 1) * step))
                    .toList();
        }
    }

    /** Returns some bytes, at least one. */
    private static NDArray padded(NDManager manager, byte[] bytes, int length) {
        return manager.create(Arrays.copyOf(bytes, Math.max(1, length)));
    }

    /** Returns when all ranks have come here. */
    public void barrier() {
        if (worldSize > 1) {
            withToken("barrier(x, \"" + name + "\")");
        }
    }

    /**
     * Leaves because of an error, of which the others are told when they next wait for this one;
     * but not of one that they are the reason of.
     */
    public void fail(String reason) {
        leave(othersFailed ? "" : SPECIAL.matcher(reason).replaceAll(" "));
    }

    /** Returns whether others are the reason that this rank cannot go on. */
    public boolean othersFailed() {
        return othersFailed;
    }

    @Override
    public void close() {
        leave("");
    }

    private void leave(String reason) {
        if (open) {
            open = false;
            withToken(Text.format("leave_group(x, \"%s\", \"%s\")", name, reason));
        }
    }

    private static String plain(String text) {
        if (SPECIAL.matcher(text).find()) {
            throw SaccadeException.user("got %s, expected the name of a machine", text);
        }
        return text;
    }

    private Script script(String signature, String text) {
        return scripts.computeIfAbsent(text, body -> Script.compile(signature, body));
    }

    /** Changes arrays, be they learned or not. */
    private void inPlace(List<NDArray> arrays, String text) {
        Script script = script("(x: List[Tensor]) -> Tensor", text);
        NoGrad.run(() -> told(() -> script.runLists(List.of(arrays))).close());
    }

    /** Calls an operator that takes a token, without which scripts would leave it out. */
    private void withToken(String call) {
        Script script = script("(x: Tensor) -> Tensor", "return ops.saccade." + call);
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            told(() -> script.runAll(manager.create(0f)));
        }
    }

    /**
     * Returns what operators give that all ranks run together.
     *
     * @throws SaccadeException of kind io that names the ranks that are the reason, if they fail
     */
    public <T> T told(Supplier<T> collective) {
        try {
            return collective.get();
        } catch (EngineException e) {
            Matcher message = TOLD.matcher(String.valueOf(e.getMessage()));
            if (message.find()) {
                othersFailed = true;
                throw SaccadeException.io(e, "rank %d: %s", rank, message.group(1));
            }
            throw e;
        }
    }
}
