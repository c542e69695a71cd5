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

/** Callables that a pickle may use. Calls create data; no code is executed. */
final class PickleGlobals {

    private static final Set<String> DICTS =
            Set.of(
                    "collections.OrderedDict",
                    "collections.defaultdict",
                    "collections.Counter",
                    "builtins.dict");

    /** Values that training scripts store next to the weights; read as {@link Opaque}. */
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

    PickleGlobals(long length) {
        this.length = length;
    }

    /** Returns the result of a call; rejected calls are collected and return an opaque value. */
    Object call(Object callee, Tuple arguments) {
        if (!(callee instanceof Global global)) {
            refuse("a value that is not a name");
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

    /** Converts Latin-1 text to bytes; in protocol 2, Python 3 writes bytes as such text. */
    private Object encoded(List<Object> given) {
        if (!(argument(given, 0) instanceof String text) || !"latin1".equals(argument(given, 1))) {
            return new Opaque();
        }
        encoded += text.length();
        if (encoded > length) {
            throw new MalformedException("damaged pickle: its values are larger than the file");
        }
        return new Pickle.Bytes(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    private static TorchTensor tensor(List<Object> given) {
        if (!(argument(given, 0) instanceof TorchStorage storage)) {
            throw new MalformedException("damaged pickle: a tensor without a storage");
        }
        return new TorchTensor(
                storage,
                integer(argument(given, 1)),
                integers(argument(given, 2)),
                integers(argument(given, 3)));
    }

    private static Object argument(List<Object> given, int index) {
        if (index >= given.size()) {
            throw new MalformedException("damaged pickle: a call with missing arguments");
        }
        return given.get(index);
    }

    static List<Long> integers(Object value) {
        if (value instanceof Tuple tuple) {
            return tuple.items().stream().map(PickleGlobals::integer).toList();
        }
        throw new MalformedException("damaged pickle: a shape that is not a tuple");
    }

    private static long integer(Object value) {
        if (value instanceof Long number && number >= 0) {
            return number;
        }
        throw new MalformedException("damaged pickle: a shape that is not a list of sizes");
    }

    private void refuse(String name) {
        if (refused.size() <= MAX_LISTED) {
            refused.add(name);
        }
    }

    /** Restores the state of a NumPy array or dtype; rejects setting the state of a class. */
    void restore(Object target, Object state) {
        if (target instanceof Global global) {
            refuse(global.qualified());
        } else if (target instanceof NumpyArray array) {
            array.restore(state);
        } else if (target instanceof NumpyArray.Type type) {
            type.restore(state);
        }
    }

    /** Throws one error that lists the first rejected calls, if there are any. */
    void throwIfRefused() {
        if (!refused.isEmpty()) {
            List<String> first = refused.stream().limit(MAX_LISTED).toList();
            throw new MalformedException(
                    "rejected: loading it would execute %s%s; in Python, save only the tensors"
                            + " with torch.save(model.state_dict(), ...)",
                    String.join(", ", first), refused.size() > MAX_LISTED ? ", ..." : "");
        }
    }
}
