package dev.saccade.core.distributed;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ObjectArrays;
import com.google.common.primitives.Ints;

import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ThreadLocals;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;

import java.time.Duration;
import java.util.Arrays;
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

    private static final Pattern FAULT = Pattern.compile("ranks: ([^\\n]*)");

    /** What would end a text within the text of a script. */
    private static final Pattern SPECIAL = Pattern.compile("[\"\\\\\\p{Cntrl}]");

    private static final Rendezvous ALONE = new Rendezvous("", 1, 0, 1, 0, Duration.ofSeconds(1));

    /** Unique among the ranks of a process, which may be threads. */
    private final String name = UUID.randomUUID().toString();

    private final Rendezvous at;
    private final Map<String, Script> scripts = new TreeMap<>();
    private boolean open;
    private boolean othersFailed;

    private ProcessGroup(Rendezvous at) {
        this.at = at;
        this.open = at.worldSize() > 1;
    }

    /** Returns the only rank. */
    public static ProcessGroup alone() {
        return new ProcessGroup(ALONE);
    }

    /**
     * Waits until all ranks have come, and joins them.
     *
     * @throws SaccadeException of kind io that names the ranks that did not come in time, or the
     *     reason why they cannot connect; of kind user, if fused operators are off or the host name
     *     is invalid
     */
    public static ProcessGroup join(Rendezvous at) {
        ProcessGroup group = new ProcessGroup(at);
        if (!group.open) {
            return group;
        }
        if (!Kernels.status().loaded()) {
            throw SaccadeException.user(
                    "several ranks need the fused operators, which are off: %s",
                    Kernels.status().reason());
        }
        group.run(
                "join_group",
                quoted(plain(at.masterAddress())),
                at.masterPort(),
                at.timeout().toMillis() / 1000.0,
                quoted(at.localAddress()),
                at.rank(),
                at.worldSize());
        // A rank that leaves at once would break connections that other ranks are still opening.
        group.barrier();
        return group;
    }

    /** Returns the ranks that this thread computes together with: none but {@link #with}. */
    public static ProcessGroup current() {
        return CURRENT.get();
    }

    /**
     * Runs what computes together with other ranks by itself, such as a model with synchronized
     * normalizations.
     *
     * @param ranks those that all run the same
     */
    public static <T> T with(ProcessGroup ranks, Supplier<T> body) {
        return ThreadLocals.call(CURRENT, ranks, body);
    }

    /** Returns the name by which operators know this rank in its group. */
    public String name() {
        return name;
    }

    /** Returns which of the ranks this is, from 0. */
    public int rank() {
        return at.rank();
    }

    /** Returns how many ranks there are. */
    public int worldSize() {
        return at.worldSize();
    }

    /**
     * Returns the device that a name means on this rank, as {@link Devices#choose} does alone and
     * {@link Devices#chooseForRank} among several or with a GPU of its own.
     */
    public Device device(String called) {
        return at.worldSize() == 1 && at.localRank() == 0
                ? Devices.local().choose(called)
                : Devices.local().chooseForRank(called, at.localRank());
    }

    /**
     * Lets NCCL carry from now on what lies on a GPU, where libtorch has it; all ranks do so at the
     * same time. Without it, or on CPUs, Gloo carries everything.
     */
    public void use(Device device) {
        if (at.worldSize() > 1 && device.isGpu() && Nccl.status().loaded()) {
            run(
                    "add_nccl",
                    quoted(at.masterAddress()),
                    at.masterPort(),
                    at.timeout().toMillis() / 1000.0);
        }
    }

    /**
     * Sums arrays over the ranks, in place; the sums are the same on all of them to the last bit.
     *
     * @param arrays of the same types and shapes in the same order on all ranks
     */
    public void allReduce(List<NDArray> arrays) {
        if (at.worldSize() > 1 && !arrays.isEmpty()) {
            inPlace(arrays, "all_reduce_(x, " + quoted(name) + ")");
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
        if (at.worldSize() == 1) {
            return x;
        }
        NDArray mean = x.div(at.worldSize());
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
        if (at.worldSize() == 1 || gradients.isEmpty()) {
            return gradients;
        }
        Script script =
                script(
                        "(x: List[Tensor], like: List[Tensor]) -> List[Tensor]",
                        "return ops.saccade.all_reduce(x, like, " + quoted(name) + ")");
        return NoGrad.call(() -> runCollective(() -> script.runLists(List.of(gradients, like))));
    }

    /**
     * Gives arrays the values that they have on one rank.
     *
     * @param root that rank
     */
    public void broadcast(List<NDArray> arrays, int root) {
        if (at.worldSize() > 1 && !arrays.isEmpty()) {
            inPlace(arrays, "broadcast_(x, " + root + ", " + quoted(name) + ")");
        }
    }

    /**
     * Returns the arrays of all ranks.
     *
     * @param x of the same type and shape on all ranks
     * @return {@code [worldSize, ...]}, of the manager of x
     */
    public NDArray allGather(NDArray x) {
        if (at.worldSize() == 1) {
            return x.expandDims(0);
        }
        return runCollective(() -> Script.call("ops.saccade.all_gather", x, quoted(name)));
    }

    /**
     * Returns the bytes that one rank has.
     *
     * @param root that rank; what the others give does not matter
     */
    public byte[] broadcast(byte[] bytes, int root) {
        if (at.worldSize() == 1) {
            return bytes;
        }
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDArray length = manager.create(bytes.length);
            broadcast(List.of(length), root);
            byte[] atLeastOne = Arrays.copyOf(bytes, Math.max(1, length.getInt()));
            NDArray padded = manager.create(atLeastOne);
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
        if (at.worldSize() == 1) {
            return List.of(bytes);
        }
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            int[] lengths = allGather(manager.create(new int[] {bytes.length})).toIntArray();
            int longest = Math.max(1, Ints.max(lengths));
            byte[] all = allGather(manager.create(Arrays.copyOf(bytes, longest))).toByteArray();
            return IntStream.range(0, lengths.length)
                    .mapToObj(r -> Arrays.copyOfRange(all, r * longest, r * longest + lengths[r]))
                    .toList();
        }
    }

    /** Returns when all ranks have come here. */
    public void barrier() {
        if (at.worldSize() > 1) {
            run("barrier");
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
            run("leave_group", quoted(reason));
        }
    }

    private static String plain(String text) {
        if (SPECIAL.matcher(text).find()) {
            throw SaccadeException.user("master address: got %s, expected a host name", text);
        }
        return text;
    }

    private Script script(String signature, String text) {
        return scripts.computeIfAbsent(text, body -> Script.compile(signature, body));
    }

    /** Changes arrays, also parameters. */
    private void inPlace(List<NDArray> arrays, String call) {
        String text = "ops.saccade." + call + "\nreturn x[0]";
        Script script = script("(x: List[Tensor]) -> Tensor", text);
        NoGrad.run(() -> runCollective(() -> script.runLists(List.of(arrays))).close());
    }

    /** Runs an operator of this group. */
    private void run(String operator, Object... arguments) {
        Object[] all =
                ObjectArrays.concat(
                        new Object[] {Kernels.TOKEN, quoted(name)}, arguments, Object.class);
        runCollective(() -> Kernels.numbers(operator, all));
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    /**
     * Returns what operators give that all ranks run together.
     *
     * @throws SaccadeException of kind io that names the ranks that are the reason, if they fail
     */
    public <T> T runCollective(Supplier<T> collective) {
        try {
            return collective.get();
        } catch (EngineException e) {
            Matcher message = FAULT.matcher(String.valueOf(e.getMessage()));
            if (message.find()) {
                othersFailed = true;
                throw SaccadeException.io(e, "rank %d: %s", rank(), message.group(1));
            }
            throw e;
        }
    }
}
