package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.pytorch.Pickle.Global;
import dev.saccade.checkpoint.pytorch.Pickle.Opaque;
import dev.saccade.checkpoint.pytorch.Pickle.Tuple;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The callables that a pickle may name. A call creates data; no code runs. */
final class PickleGlobals {

    /** Makes an ordered or counting dict. */
    private static final Set<String> DICTS =
            Set.of(
                    "collections.OrderedDict",
                    "collections.defaultdict",
                    "collections.Counter",
                    "builtins.dict");

    /** Values that training scripts store beside the weights; read as {@link Opaque}. */
    private static final Set<String> HARMLESS =
            Set.of(
                    "argparse.Namespace",
                    "builtins.set",
                    "builtins.frozenset",
                    "builtins.complex",
                    "builtins.bytearray",
                    "datetime.datetime",
                    "datetime.timedelta",
                    "mmengine.logging.history_buffer.HistoryBuffer",
                    "numpy.ndarray",
                    "numpy.core.multiarray.scalar",
                    "pathlib.PosixPath",
                    "pathlib.WindowsPath",
                    "torch.device",
                    "torch.Generator",
                    "yacs.config.CfgNode");

    private static final int MAX_LISTED = 10;

    private final Set<String> refused = new TreeSet<>();
    private final long length;
    private long copied;
    private long encoded;

    /**
     * Reads calls.
     *
     * @param length bytes of the pickle
     */
    PickleGlobals(long length) {
        this.length = length;
    }

    /** Returns the result of a call; collects refused calls, whose result is opaque. */
    Object call(Object callee, Tuple arguments) {
        if (!(callee instanceof Global global)) {
            refuse("a value that is no name");
            return new Opaque();
        }
        List<Object> given = arguments.items();
        return switch (global.qualified()) {
            case "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2" -> tensor(given);
            case "torch._utils._rebuild_parameter",
                    "torch._utils._rebuild_parameter_with_state",
                    "torch.Size" ->
                    argument(given, 0);
            case "torch._tensor._rebuild_from_type_v2" -> {
                boolean isNested = global.equals(argument(given, 0));
                yield argument(given, 2) instanceof Tuple inner && !isNested
                        ? call(argument(given, 0), inner)
                        : new Opaque();
            }
            case "numpy.core.multiarray._reconstruct" -> new NumpyArray();
            case "numpy.core.numeric._frombuffer" -> {
                NumpyArray array = new NumpyArray();
                boolean isFortran = argument(given, 3).equals("F");
                array.set(argument(given, 2), argument(given, 1), isFortran, argument(given, 0));
                yield array;
            }
            case "numpy.dtype" ->
                    argument(given, 0) instanceof String code
                            ? new NumpyArray.Type(code)
                            : new Opaque();
            case "_codecs.encode" -> encoded(given);
            default -> data(global.qualified(), given);
        };
    }

    private Object data(String name, List<Object> given) {
        if (DICTS.contains(name)) {
            return dict(given);
        }
        if (!HARMLESS.contains(name)) {
            refuse(name);
        }
        return new Opaque();
    }

    private Map<Object, Object> dict(List<Object> given) {
        Object content = given.isEmpty() ? Pickle.NONE : given.get(0);
        if (content instanceof Map<?, ?>) {
            return Pickle.map(content);
        }
        Map<Object, Object> dict = new LinkedHashMap<>();
        if (content instanceof List<?> pairs) {
            copied += pairs.size();
            if (copied > Pickle.MAX_OPERATIONS) {
                throw new MalformedException("damaged pickle: too many entries");
            }
            for (Object pair : pairs) {
                Pickle.putAll(dict, pair instanceof Tuple tuple ? tuple.items() : List.of());
            }
        }
        return dict;
    }

    /** Returns the bytes that Python 3 writes as Latin-1 text in protocol 2. */
    private Object encoded(List<Object> given) {
        if (!(argument(given, 0) instanceof String text) || !"latin1".equals(argument(given, 1))) {
            return new Opaque();
        }
        encoded += text.length();
        if (encoded > length) {
            throw new MalformedException("damaged pickle: more bytes than the file has");
        }
        return new Pickle.Bytes(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    private static TorchTensor tensor(List<Object> given) {
        if (!(argument(given, 0) instanceof TorchStorage storage)) {
            throw new MalformedException("damaged pickle: a tensor without storage");
        }
        return new TorchTensor(
                storage,
                integer(argument(given, 1)),
                integers(argument(given, 2)),
                integers(argument(given, 3)));
    }

    private static Object argument(List<Object> given, int index) {
        if (index >= given.size()) {
            throw new MalformedException("damaged pickle: a call lacks arguments");
        }
        return given.get(index);
    }

    static List<Long> integers(Object value) {
        if (value instanceof Tuple tuple) {
            return tuple.items().stream().map(PickleGlobals::integer).toList();
        }
        throw new MalformedException("damaged pickle: a shape that is no tuple");
    }

    private static long integer(Object value) {
        if (value instanceof Long number && number >= 0) {
            return number;
        }
        throw new MalformedException("damaged pickle: a shape that is no list of sizes");
    }

    private void refuse(String name) {
        if (refused.size() <= MAX_LISTED) {
            refused.add(name);
        }
    }

    /** Restores the state of an array; refuses the state of a class, which would run its code. */
    void restore(Object target, Object state) {
        if (target instanceof Global global) {
            refuse(global.qualified());
        } else if (target instanceof NumpyArray array) {
            array.restore(state);
        } else if (target instanceof NumpyArray.Type type) {
            type.restore(state);
        }
    }

    /** Throws one error that names all that was refused. */
    void throwIfRefused() {
        if (!refused.isEmpty()) {
            List<String> first = refused.stream().limit(MAX_LISTED).toList();
            throw new MalformedException(
                    "refused: it wants to run %s%s; in Python, torch.save(model.state_dict(), ...)"
                            + " writes a file of tensors alone",
                    String.join(", ", first), refused.size() > MAX_LISTED ? ", ..." : "");
        }
    }
}
