package dev.saccade.core.ops.script;

import static java.util.stream.Collectors.joining;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.engine.PtSymbolBlock;
import ai.djl.pytorch.jni.IValueUtils;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.HostTransfers;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * An operator written in TorchScript, which can use all ATen operators and is differentiable.
 *
 * <p>Scripts are loaded through DJL and run in any thread and on any device. A call costs about 10
 * µs, so combine small steps in a script and write constants into its text.
 */
public final class Script {

    /** A pickled object of class {@code M} with only the attribute {@code training = True}. */
    private static final byte[] OBJECT =
            HexFormat.of()
                    .parseHex(
                            "8002635f5f746f7263685f5f0a4d0a710029817d28580800000074726169"
                                    + "6e696e67710188756271022e");

    /** An empty pickled tuple. */
    private static final byte[] NO_CONSTANTS = HexFormat.of().parseHex("8002292e");

    private static final ThreadLocal<Boolean> PLAIN_EXECUTOR =
            ThreadLocal.withInitial(
                    () -> {
                        // The optimizing executor recompiles for every new shape.
                        JniUtils.setGraphExecutorOptimize(false);
                        return true;
                    });

    private static final String ON_TOKEN = "(x: Tensor) -> Tensor";

    private static final Map<String, Script> CALLS = new ConcurrentHashMap<>();

    private final PtSymbolBlock block;
    private final boolean numbersOnCpu;

    private Script(PtSymbolBlock block, boolean numbersOnCpu) {
        this.block = block;
        this.numbersOnCpu = numbersOnCpu;
    }

    /**
     * Compiles an operator.
     *
     * @param signature parameters and result, such as {@code (x: Tensor, y: Tensor) -> Tensor}
     * @param body lines of TorchScript that return a tensor or a tuple of tensors
     */
    public static Script compile(String signature, String body) {
        String inputs = signature.strip().substring(1);
        String code =
                "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
                        + "  def forward(self: __torch__.M, "
                        + inputs
                        + ":\n"
                        + body.strip().indent(4);
        PtNDManager manager = (PtNDManager) Libtorch.newManager(Device.cpu());
        try {
            return new Script(
                    JniUtils.loadModule(
                            manager, new ByteArrayInputStream(archive(code)), true, false),
                    false);
        } catch (IOException | RuntimeException e) {
            throw SaccadeException.internal(e, "libtorch cannot compile this script:%n%s", code);
        }
    }

    /** Returns this script without read counts; only for scripts that read CPU arrays alone. */
    public Script withoutReadCounts() {
        return new Script(block, true);
    }

    /** Runs a script with one result, which belongs to the manager of the first input. */
    public NDArray run(NDArray... inputs) {
        return runAll(inputs).singletonOrThrow();
    }

    /** Runs the script. The results belong to the manager of the first input. */
    public NDList runAll(NDArray... inputs) {
        PLAIN_EXECUTOR.get();
        NDList results = IValueUtils.forward(block, new NDList(inputs), true);
        HostTransfers.afterScript(numbersOnCpu);
        return results;
    }

    /**
     * Runs a script with {@code List[Tensor]} parameters. Lists must not be empty or share arrays.
     */
    public NDList runLists(List<List<NDArray>> lists) {
        PLAIN_EXECUTOR.get();
        NDList inputs = new NDList();
        for (int i = 0; i < lists.size(); i++) {
            // DJL assigns arrays to list parameters by name.
            for (NDArray member : lists.get(i)) {
                member.setName(i + "[]");
                inputs.add(member);
            }
        }
        try {
            NDList results = IValueUtils.forward(block, inputs, true);
            HostTransfers.afterScript(numbersOnCpu);
            return results;
        } finally {
            inputs.forEach(member -> member.setName(null));
        }
    }

    /**
     * Runs a single operator, such as {@code torch.softmax}. The result belongs to the manager of
     * the first array.
     *
     * @param arguments arrays, numbers, booleans, lists of numbers, null, and named arguments such
     *     as {@code "memory_format=2"}. A script is compiled and cached for each combination of
     *     non-array values, so do not pass sizes that differ between images
     */
    public static NDArray call(String operator, Object... arguments) {
        NDArray[] inputs =
                Arrays.stream(arguments).filter(NDArray.class::isInstance).toArray(NDArray[]::new);
        String expression = expression(operator, arguments);
        return CALLS.computeIfAbsent(expression, key -> compile(inputs.length, key)).run(inputs);
    }

    private static Script compile(int inputs, String expression) {
        String parameters =
                IntStream.range(0, inputs)
                        .mapToObj(i -> "x" + i + ": Tensor")
                        .collect(joining(", "));
        return compile("(" + parameters + ") -> Tensor", "return " + expression);
    }

    /** Returns a TorchScript call; arrays are named {@code x0}, {@code x1}, and so on. */
    static String expression(String operator, Object... arguments) {
        StringBuilder text = new StringBuilder(operator).append('(');
        int inputs = 0;
        for (Object argument : arguments) {
            text.append(argument instanceof NDArray ? "x" + inputs++ : literal(argument));
            text.append(", ");
        }
        text.setLength(text.length() - (arguments.length == 0 ? 0 : 2));
        return text.append(')').toString();
    }

    static String literal(Object value) {
        return value == null
                ? "None"
                : value instanceof Boolean flag ? flag ? "True" : "False" : value.toString();
    }

    /** Evaluates a numeric expression, such as {@code ops.mine.version()}. */
    public static float evaluate(String expression) {
        String sum = "torch.add(x, " + expression + ")";
        return (float) compile(ON_TOKEN, "return " + sum).numbers()[0];
    }

    /** Returns the values of a tensor expression; {@code x} is a CPU scalar. */
    static double[] numbers(String expression) {
        return CALLS.computeIfAbsent(expression, key -> compile(ON_TOKEN, "return " + key))
                .numbers();
    }

    private double[] numbers() {
        try (NDManager cpu = Libtorch.newManager(Device.cpu())) {
            NDArray zero = cpu.zeros(new Shape(), DataType.INT64);
            return run(zero).toType(DataType.FLOAT64, true).toDoubleArray();
        }
    }

    private static byte[] archive(String code) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            store(zip, "m/data.pkl", OBJECT);
            store(zip, "m/code/__torch__.py", code.getBytes(StandardCharsets.UTF_8));
            store(zip, "m/constants.pkl", NO_CONSTANTS);
            store(zip, "m/version", "3\n".getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    private static void store(ZipOutputStream zip, String name, byte[] content) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(content);
        ZipEntry entry = new ZipEntry(name);
        entry.setMethod(ZipEntry.STORED);
        entry.setSize(content.length);
        entry.setCrc(crc.getValue());
        zip.putNextEntry(entry);
        zip.write(content);
    }
}
