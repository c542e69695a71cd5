package dev.saccade.config;

import com.google.common.primitives.Primitives;

import java.math.BigInteger;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Converts scalars between YAML and Java. Integers are accepted as floating-point numbers, but 1.5
 * is not an integer, and 50 is not a string.
 */
final class Scalars {

    private static final Set<Class<?>> TYPES =
            Set.of(
                    Integer.class,
                    Long.class,
                    Float.class,
                    Double.class,
                    Boolean.class,
                    String.class,
                    Path.class);

    private Scalars() {}

    static boolean isScalar(Class<?> type) {
        return TYPES.contains(Primitives.wrap(type)) || type.isEnum();
    }

    /** Describes the YAML form of a type for messages. */
    static String expected(Class<?> type) {
        if (type.isEnum()) {
            return "one of " + String.join(", ", names(type));
        }
        return switch (Primitives.wrap(type).getSimpleName()) {
            case "Integer", "Long" -> "an integer";
            case "Float", "Double" -> "a number";
            case "Boolean" -> "true or false";
            case "Path" -> "a file name";
            default -> "a string";
        };
    }

    /** Converts a Java value to its YAML form. */
    static Object toConfig(Object value) {
        if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        if (value instanceof Float number) {
            return Double.valueOf(number.toString());
        }
        if (value instanceof Enum<?> constant) {
            return name(constant);
        }
        return value instanceof Path path ? path.toString() : value;
    }

    /**
     * Converts a YAML value to a Java type.
     *
     * @throws IllegalArgumentException with the expected form as message
     */
    static Object fromConfig(Class<?> type, Object value) {
        if (type.isEnum()) {
            return constant(type, value);
        }
        return switch (Primitives.wrap(type).getSimpleName()) {
            case "Boolean" -> require(type, value instanceof Boolean, value);
            case "String" -> text(value);
            case "Path" -> path(value);
            case "Float" -> {
                double number = real(type, value);
                boolean fits = Math.abs(number) <= Float.MAX_VALUE || Double.isInfinite(number);
                yield (float) (double) require(fits, number, "a number below 3.4e38");
            }
            case "Double" -> real(type, value);
            default -> integer(type, value);
        };
    }

    private static Object text(Object value) {
        String quotes = value instanceof String ? "" : "; put it in quotes: \"" + value + "\"";
        return require(value instanceof String, value, expected(String.class) + quotes);
    }

    private static Object integer(Class<?> type, Object value) {
        boolean isShort = Primitives.wrap(type) == Integer.class;
        require(type, value instanceof Long || value instanceof BigInteger, value);
        require(value instanceof Long, value, "a 64-bit integer");
        long number = (Long) value;
        require(!isShort || number == (int) number, value, "a 32-bit integer");
        return isShort ? (Object) (int) number : (Object) number;
    }

    private static double real(Class<?> type, Object value) {
        require(type, value instanceof Number, value);
        double number = ((Number) value).doubleValue();
        return require(!Double.isNaN(number), number, expected(type));
    }

    private static Path path(Object value) {
        require(Path.class, value instanceof String, value);
        try {
            return Path.of((String) value);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(expected(Path.class), e);
        }
    }

    private static Object constant(Class<?> type, Object value) {
        for (Object constant : type.getEnumConstants()) {
            if (name((Enum<?>) constant).equals(value)) {
                return constant;
            }
        }
        String hint = ToolkitTerms.hintForValue(value, names(type));
        String suggestion =
                hint.isEmpty() ? Suggestions.suggestion(value.toString(), names(type)) : hint;
        throw new IllegalArgumentException(expected(type) + suggestion);
    }

    private static List<String> names(Class<?> type) {
        return Arrays.stream(type.getEnumConstants()).map(c -> name((Enum<?>) c)).toList();
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static Object require(Class<?> type, boolean fits, Object value) {
        return require(fits, value, expected(type));
    }

    private static <T> T require(boolean fits, T value, String expected) {
        if (!fits) {
            throw new IllegalArgumentException(expected);
        }
        return value;
    }
}
