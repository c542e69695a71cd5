package dev.saccade.checkpoint;

import dev.saccade.checkpoint.Pickle.Global;
import dev.saccade.checkpoint.Pickle.Opaque;
import dev.saccade.checkpoint.Pickle.Tuple;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The names that a checkpoint may call, and what then happens: data is made, no code runs. */
final class PickleGlobals {

    /** Makes an ordered or counting dict. */
    private static final Set<String> DICTS =
            Set.of(
                    "collections.OrderedDict",
                    "collections.defaultdict",
                    "collections.Counter",
                    "builtins.dict",
                    "__builtin__.dict");

    /** What training scripts leave beside the weights; becomes {@link Opaque}. */
    private static final Set<String> HARMLESS =
            Set.of(
                    "argparse.Namespace",
                    "_codecs.encode",
                    "builtins.set",
                    "__builtin__.set",
                    "builtins.frozenset",
                    "__builtin__.frozenset",
                    "builtins.complex",
                    "__builtin__.complex",
                    "builtins.bytearray",
                    "__builtin__.bytearray",
                    "datetime.datetime",
                    "datetime.timedelta",
                    "numpy.dtype",
                    "numpy.ndarray",
                    "numpy.core.multiarray.scalar",
                    "numpy.core.multiarray._reconstruct",
                    "numpy._core.multiarray.scalar",
                    "numpy._core.multiarray._reconstruct",
                    "pathlib.PosixPath",
                    "pathlib.WindowsPath",
                    "torch.device",
                    "torch.Generator",
                    "yacs.config.CfgNode");

    private static final int MAX_LISTED = 10;

    private final Set<String> refused = new TreeSet<>();
    private long copied;

    /** Returns what a call makes; a call that is refused is noted and makes something opaque. */
    Object call(Object callee, Tuple arguments) {
        if (!(callee instanceof Global global)) {
            refuse("a value that is no name");
            return new Opaque();
        }
        List<Object> given = arguments.items();
        switch (global.qualified()) {
            case "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2" -> {
                return tensor(given);
            }
            case "torch._utils._rebuild_parameter",
                    "torch._utils._rebuild_parameter_with_state" -> {
                return argument(given, 0);
            }
            case "torch._tensor._rebuild_from_type_v2" -> {
                boolean isNested = global.equals(argument(given, 0));
                return argument(given, 2) instanceof Tuple inner && !isNested
                        ? call(argument(given, 0), inner)
                        : new Opaque();
            }
            case "torch.Size" -> {
                return argument(given, 0);
            }
            default -> {
                return data(global.qualified(), given);
            }
        }
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

    private static List<Long> integers(Object value) {
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

    /** Notes the restoring of a state, which would run the code of a class, where it is one. */
    void checkState(Object target) {
        if (target instanceof Global global) {
            refuse(global.qualified());
        }
    }

    /** Throws one error that names all that was refused. */
    void throwIfRefused() {
        if (!refused.isEmpty()) {
            List<String> first = refused.stream().limit(MAX_LISTED).toList();
            throw new MalformedException(
                    "refused: it wants to run "
                            + String.join(", ", first)
                            + (refused.size() > MAX_LISTED ? ", ..." : "")
                            + "; in Python, torch.save(model.state_dict(), ...) writes a file of"
                            + " tensors alone");
        }
    }
}
