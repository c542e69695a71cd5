package dev.saccade.core.nn;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;

import dev.saccade.core.ops.memory.Scope;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** A layer for inference on CPUs whose weights are packed at the first call. */
abstract class FusedLayer implements AutoCloseable {

    /**
     * With fewer channels, transforming or quantizing values takes longer than multiplying them.
     */
    static final int MIN_CHANNELS = 16;

    /** With more 8-bit products, their sum does not fit into 32 bits. */
    static final int MAX_INT8_PRODUCTS = 1 << 16;

    /** PyTorch's numbers of data types. */
    static final int INT8 = 1;

    static final int FLOAT32 = 6;
    static final int BFLOAT16 = 15;

    private final Map<Object, NDList> packed = new HashMap<>();

    /** Returns PyTorch's number of a precision of maps. */
    static int type(Precision precision) {
        return precision == Precision.BFLOAT16 ? BFLOAT16 : FLOAT32;
    }

    /** Returns the name of a data type of products, as in {@link LayerProfile.Entry#precision}. */
    static String name(int type) {
        return type == INT8 ? "int8" : type == BFLOAT16 ? "bfloat16" : "float32";
    }

    /** Returns packed arrays; {@code pack} runs at the first call with this key. */
    synchronized NDList packed(Object key, Supplier<NDList> pack) {
        return packed.computeIfAbsent(key, each -> permanent(pack));
    }

    private static NDList permanent(Supplier<NDList> arrays) {
        NDList list = Scope.list(arrays);
        // Otherwise the scope of the first forward pass would free them.
        NDScope.unregister(list);
        return list;
    }

    @Override
    public void close() {
        packed.values().forEach(NDList::close);
    }
}
