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
 * Collective operations of multiple ranks, like {@code torch.distributed}, using libtorch's c10d,
 * Gloo and NCCL.
 *
 * <p>All ranks call the same methods in the same order, each from one thread at a time. If a rank
 * dies, hangs or calls {@link #fail}, the calls of the other ranks end within the timeout with an
 * error of kind I/O that names that rank. With a single rank, nothing is sent.
 */
public final class ProcessGroup implements AutoCloseable {

    private static final ThreadLocal<ProcessGroup> CURRENT =
            ThreadLocal.withInitial(ProcessGroup::alone);

    private static final Pattern FAULT = Pattern.compile("ranks: ([^\\n]*)");

    /** Characters that a string literal in a script must not contain. */
    private static final Pattern SPECIAL = Pattern.compile("[\"\\\\\\p{Cntrl}]");

    private static final Rendezvous ALONE = new Rendezvous("", 1, 0, 1, 0, Duration.ofSeconds(1));

    /** Unique per rank, even if ranks are threads of one process. */
    private final String name = UUID.randomUUID().toString();

    private final Rendezvous at;
    private final Map<String, Script> scripts = new TreeMap<>();
    private boolean open;
    private boolean othersFailed;

    private ProcessGroup(Rendezvous at) {
        this.at = at;
        this.open = at.worldSize() > 1;
    }

    /** Returns a group with a single rank. */
    public static ProcessGroup alone() {
        return new ProcessGroup(ALONE);
    }

    /** Joins a group; waits for all ranks. I/O errors name the missing ranks. */
    public static ProcessGroup join(Rendezvous at) {
        ProcessGroup group = new ProcessGroup(at);
        if (!group.open) {
            return group;
        }
        if (!Kernels.status().loaded()) {
            throw SaccadeException.user(
                    "multiple ranks need the fused operators, which are off: %s",
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

    /** Returns the group of this thread, a single rank by default; see {@link #with}. */
    public static ProcessGroup current() {
        return CURRENT.get();
    }

    /** Runs {@code body} with {@code ranks} as this thread's group, and returns its result. */
    public static <T> T with(ProcessGroup ranks, Supplier<T> body) {
        return ThreadLocals.call(CURRENT, ranks, body);
    }

    /** Returns the name of this rank's group in native operators. */
    public String name() {
        return name;
    }

    public int rank() {
        return at.rank();
    }

    public int worldSize() {
        return at.worldSize();
    }

    /** Returns the device of this rank for a config value; see {@link Devices#chooseForRank}. */
    public Device device(String configured) {
        return at.worldSize() == 1 && at.localRank() == 0
                ? Devices.local().choose(configured)
                : Devices.local().chooseForRank(configured, at.localRank());
    }

    /** Uses NCCL (if available) instead of Gloo for arrays on a GPU. All ranks must call this. */
    public void use(Device device) {
        if (at.worldSize() > 1 && device.isGpu() && Nccl.status().loaded()) {
            run(
                    "add_nccl",
                    quoted(at.masterAddress()),
                    at.masterPort(),
                    at.timeout().toMillis() / 1000.0);
        }
    }

    /** Sums arrays over all ranks in place; results are bit-identical on all ranks. */
    public void allReduce(List<NDArray> arrays) {
        if (at.worldSize() > 1 && !arrays.isEmpty()) {
            inPlace(arrays, "all_reduce_(x, " + quoted(name) + ")");
        }
    }

    /** Returns the mean over all ranks, bit-identical on each; {@code x} for a single rank. */
    public NDArray mean(NDArray x) {
        if (at.worldSize() == 1) {
            return x;
        }
        NDArray mean = x.div(at.worldSize());
        allReduce(List.of(mean));
        return mean;
    }

    /**
     * Returns gradients summed over all ranks; results are bit-identical on all ranks.
     *
     * @param gradients one array per parameter; arrays may share memory; an empty one means zeros
     * @param like the parameters; each sum gets the memory format of its parameter
     * @return arrays owned by the manager of the first gradient; some share memory
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

    /** Copies the arrays of rank {@code root} to all other ranks. */
    public void broadcast(List<NDArray> arrays, int root) {
        if (at.worldSize() > 1 && !arrays.isEmpty()) {
            inPlace(arrays, "broadcast_(x, " + root + ", " + quoted(name) + ")");
        }
    }

    /** Returns the arrays of all ranks, {@code [worldSize, ...]}; they must have the same shape. */
    public NDArray allGather(NDArray x) {
        if (at.worldSize() == 1) {
            return x.expandDims(0);
        }
        return runCollective(() -> Script.call("ops.saccade.all_gather", x, quoted(name)));
    }

    /** Returns the bytes of rank {@code root}; the argument of other ranks is ignored. */
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

    /** Returns the bytes of all ranks, whose lengths may differ. */
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

    /** Waits for all ranks. */
    public void barrier() {
        if (at.worldSize() > 1) {
            run("barrier");
        }
    }

    /**
     * Leaves the group because of an error, which the other ranks receive at their next collective.
     * An error caused by another rank is not sent again.
     */
    public void fail(String reason) {
        leave(othersFailed ? "" : SPECIAL.matcher(reason).replaceAll(" "));
    }

    /** Returns whether another rank failed first. */
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

    /** Runs a collective that changes arrays in place, including parameters. */
    private void inPlace(List<NDArray> arrays, String call) {
        String text = "ops.saccade." + call + "\nreturn x[0]";
        Script script = script("(x: List[Tensor]) -> Tensor", text);
        NoGrad.run(() -> runCollective(() -> script.runLists(List.of(arrays))).close());
    }

    private void run(String operator, Object... arguments) {
        Object[] all =
                ObjectArrays.concat(
                        new Object[] {Kernels.TOKEN, quoted(name)}, arguments, Object.class);
        runCollective(() -> Kernels.numbers(operator, all));
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    /** Runs a collective; I/O errors name the failed ranks. */
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
