package dev.saccade.train;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** What ranks tell one another by name, in its order. */
final class MapBytes {

    private MapBytes() {}

    /**
     * Writes a map.
     *
     * @param value writes one of its values, such as {@code ByteArrayDataOutput::writeDouble}
     */
    static <V> void write(
            Map<String, V> map, ByteArrayDataOutput out, BiConsumer<ByteArrayDataOutput, V> value) {
        out.writeInt(map.size());
        map.forEach(
                (name, each) -> {
                    out.writeUTF(name);
                    value.accept(out, each);
                });
    }

    /**
     * Reads a map.
     *
     * @param value reads what was written of one of its values
     */
    static <V> Map<String, V> read(ByteArrayDataInput in, Function<ByteArrayDataInput, V> value) {
        Map<String, V> map = new LinkedHashMap<>();
        for (int i = in.readInt(); i > 0; i--) {
            map.put(in.readUTF(), value.apply(in));
        }
        return map;
    }
}
