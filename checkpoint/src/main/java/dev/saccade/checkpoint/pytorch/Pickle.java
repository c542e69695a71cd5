package dev.saccade.checkpoint.pytorch;

import com.google.errorprone.annotations.FormatMethod;

import dev.saccade.checkpoint.MalformedException;
import dev.saccade.core.Text;

import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads pickles (protocols 2 to 5) of {@code torch.save} without executing code: a global is only a
 * name, calls of names in {@link PickleGlobals} create plain data, and other calls are rejected.
 *
 * <p>Values are {@link String}, {@link Boolean}, {@link Long}, {@link BigInteger}, {@link Double},
 * {@link #NONE}, {@link List}, {@link Map}, {@link Tuple}, {@link Global}, {@link Bytes}, {@link
 * Opaque}, and the results of globals and storages.
 *
 * @see <a href="https://docs.python.org/3/library/pickletools.html">pickletools</a>
 */
final class Pickle {

    static final Object NONE = new Opaque();

    /** Bounds the memory that a small file can allocate. */
    static final int MAX_OPERATIONS = 4_000_000;

    private static final int MAX_NAME = 1000;

    record Tuple(List<Object> items) {}

    /** Name of a class or function. */
    record Global(String module, String name) {

        /** Returns the full name, translated to Python 3 and NumPy 1. */
        String qualified() {
            String current = module.equals("__builtin__") ? "builtins" : module;
            return current.replaceFirst("^numpy\\._core", "numpy.core") + "." + name;
        }
    }

    record Bytes(ByteBuffer data) {}

    /** A harmless value whose content is not needed. */
    static final class Opaque {}

    private final ByteBuffer in;
    private final Function<Tuple, Object> storages;
    private final PickleGlobals globals;
    private final Map<Integer, Object> memo = new HashMap<>();
    private final Deque<List<Object>> marked = new ArrayDeque<>();
    private List<Object> stack = new ArrayList<>();

    private Pickle(ByteBuffer in, Function<Tuple, Object> storages) {
        this.in = in;
        this.storages = storages;
        this.globals = new PickleGlobals(in.limit());
    }

    /** Reads a pickle and advances the buffer; {@code storages} maps persistent ids to storages. */
    static Object read(ByteBuffer in, Function<Tuple, Object> storages) {
        Pickle pickle = new Pickle(in.order(ByteOrder.LITTLE_ENDIAN), storages);
        try {
            Object value = pickle.run();
            pickle.globals.throwIfRefused();
            return value;
        } catch (BufferUnderflowException e) {
            throw malformed("unexpected end");
        }
    }

    private Object run() {
        for (int count = 0; count < MAX_OPERATIONS; count++) {
            int code = unsignedByte();
            if (code == '.') {
                return pop();
            }
            execute(code);
        }
        throw malformed("more than %s operations", MAX_OPERATIONS);
    }

    /** Executes an operation; this method handles values in the stream. */
    private void execute(int code) {
        switch (code) {
            case 'N' -> push(NONE);
            case 0x88 -> push(true);
            case 0x89 -> push(false);
            case 'J' -> push((long) in.getInt());
            case 'K' -> push((long) unsignedByte());
            case 'M' -> push((long) Short.toUnsignedInt(in.getShort()));
            case 0x8a -> push(integer(unsignedByte()));
            case 0x8b -> push(integer(in.getInt()));
            case 'G' -> push(Double.longBitsToDouble(Long.reverseBytes(in.getLong())));
            case 'X' -> push(text(in.getInt()));
            case 0x8c -> push(text(unsignedByte()));
            case 'T' -> push(python2String(in.getInt()));
            case 'U' -> push(python2String(unsignedByte()));
            case 0x8d -> push(text(in.getLong()));
            case 'C' -> push(slice(unsignedByte()));
            case 'B' -> push(slice(in.getInt()));
            case 0x8e, 0x96 -> push(slice(in.getLong()));
            default -> collection(code);
        }
    }

    /** Handles lists, tuples, dicts and sets. */
    private void collection(int code) {
        switch (code) {
            case '(' -> {
                marked.push(stack);
                stack = new ArrayList<>();
            }
            case ']' -> push(new ArrayList<>());
            case '}' -> push(new LinkedHashMap<>());
            case ')' -> push(new Tuple(List.of()));
            case 0x8f -> push(new Opaque());
            case 't' -> pushTuple(popMark());
            case 0x85 -> pushTuple(last(1));
            case 0x86 -> pushTuple(last(2));
            case 0x87 -> pushTuple(last(3));
            case 0x91 -> {
                popMark();
                push(new Opaque());
            }
            case 'l' -> push(popMark());
            case 'd' -> {
                List<Object> items = popMark();
                push(new LinkedHashMap<>());
                setItems(items);
            }
            case 'a' -> append(last(1));
            case 'e', 0x90 -> append(popMark());
            case 's' -> setItems(last(2));
            case 'u' -> setItems(popMark());
            case '0' -> pop();
            case '1' -> popMark();
            case '2' -> push(top());
            default -> object(code);
        }
    }

    /** Handles names, calls, memo and framing. */
    private void object(int code) {
        switch (code) {
            case 0x80 -> checkProtocol(unsignedByte());
            case 0x95 -> in.getLong();
            case 'c' -> push(new Global(line(), line()));
            case 0x93 -> {
                List<Object> names = last(2);
                push(new Global(name(names.get(0)), name(names.get(1))));
            }
            case 'R', 0x81 -> {
                List<Object> call = last(2);
                push(globals.call(call.get(0), arguments(call.get(1))));
            }
            case 0x92 -> {
                List<Object> call = last(3);
                push(globals.call(call.get(0), arguments(call.get(1))));
            }
            case 'b' -> {
                Object state = pop();
                globals.restore(top(), state);
            }
            case 'Q' -> push(storages.apply(arguments(pop())));
            case 'q' -> memo.put(unsignedByte(), top());
            case 'r' -> memo.put(in.getInt(), top());
            case 0x94 -> memo.put(memo.size(), top());
            case 'h' -> push(remembered(unsignedByte()));
            case 'j' -> push(remembered(in.getInt()));
            default -> throw malformed("operation 0x%02x is not supported", code);
        }
    }

    private void append(List<Object> items) {
        if (top() instanceof List<?>) {
            list(top()).addAll(items);
        } else if (!(top() instanceof Opaque)) {
            throw malformed("append to a value that is not a list");
        }
    }

    private void setItems(List<Object> items) {
        if (top() instanceof Map<?, ?>) {
            putAll(map(top()), items);
        } else if (!(top() instanceof Opaque)) {
            throw malformed("set items of a value that is not a dict");
        }
    }

    /** Adds alternating keys and values; keys other than strings and integers become opaque. */
    static void putAll(Map<Object, Object> map, List<Object> items) {
        if (items.size() % 2 != 0) {
            throw malformed("a key without a value");
        }
        for (int i = 0; i < items.size(); i += 2) {
            Object key = items.get(i);
            boolean simple = key instanceof String || key instanceof Long;
            map.put(simple ? key : new Opaque(), items.get(i + 1));
        }
    }

    @SuppressWarnings("unchecked") // every list of a pickle is a List<Object>
    private static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    @SuppressWarnings("unchecked")
    static Map<Object, Object> map(Object value) {
        return (Map<Object, Object>) value;
    }

    private void push(Object value) {
        stack.add(value);
    }

    private void pushTuple(List<Object> items) {
        push(new Tuple(Collections.unmodifiableList(items)));
    }

    private Object top() {
        if (stack.isEmpty()) {
            throw malformed("the stack is empty");
        }
        return stack.get(stack.size() - 1);
    }

    private Object pop() {
        Object value = top();
        stack.remove(stack.size() - 1);
        return value;
    }

    private List<Object> last(int count) {
        if (stack.size() < count) {
            throw malformed("the stack is empty");
        }
        List<Object> tail = stack.subList(stack.size() - count, stack.size());
        List<Object> values = new ArrayList<>(tail);
        tail.clear();
        return values;
    }

    private List<Object> popMark() {
        if (marked.isEmpty()) {
            throw malformed("the mark is missing");
        }
        List<Object> values = stack;
        stack = marked.pop();
        return values;
    }

    private Object remembered(int index) {
        Object value = memo.get(index);
        if (value == null) {
            throw malformed("memo entry %d is missing", index);
        }
        return value;
    }

    private static String name(Object value) {
        if (value instanceof String name && name.length() <= MAX_NAME) {
            return name;
        }
        throw malformed("a name that is not a string");
    }

    private static Tuple arguments(Object value) {
        if (value instanceof Tuple tuple) {
            return tuple;
        }
        throw malformed("arguments that are not a tuple");
    }

    private static void checkProtocol(int protocol) {
        if (protocol < 2 || protocol > 5) {
            throw malformed("protocol %s is not supported", protocol);
        }
    }

    private int unsignedByte() {
        return Byte.toUnsignedInt(in.get());
    }

    private byte[] bytes(long length) {
        byte[] bytes = new byte[checked(length)];
        in.get(bytes);
        return bytes;
    }

    private int checked(long length) {
        if (length < 0 || length > in.remaining()) {
            throw malformed("unexpected end within a string");
        }
        return (int) length;
    }

    private String text(long length) {
        return new String(bytes(length), StandardCharsets.UTF_8);
    }

    /** Returns a Python 2 string: text if it is valid UTF-8, else bytes. */
    private Object python2String(long length) {
        Bytes bytes = slice(length);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.data.duplicate()).toString();
        } catch (CharacterCodingException e) {
            return bytes;
        }
    }

    private Bytes slice(long length) {
        ByteBuffer slice = in.slice(in.position(), checked(length));
        in.position(in.position() + slice.limit());
        return new Bytes(slice);
    }

    private Object integer(long length) {
        byte[] bytes = bytes(length);
        com.google.common.primitives.Bytes.reverse(bytes);
        BigInteger value = bytes.length == 0 ? BigInteger.ZERO : new BigInteger(bytes);
        return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
    }

    private String line() {
        byte[] name = new byte[MAX_NAME];
        for (int i = 0; i < MAX_NAME; i++) {
            name[i] = in.get();
            if (name[i] == '\n') {
                return new String(Arrays.copyOf(name, i), StandardCharsets.UTF_8);
            }
        }
        throw malformed("a name without an end");
    }

    @FormatMethod
    private static MalformedException malformed(String problem, Object... args) {
        return new MalformedException("damaged pickle: %s", Text.format(problem, args));
    }
}
