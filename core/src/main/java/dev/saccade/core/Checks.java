package dev.saccade.core;

import static java.lang.System.lineSeparator;
import static java.util.stream.Collectors.joining;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks the settings of a record in its canonical constructor and collects all problems.
 *
 * <p>Give every number a minimum and a maximum that allow far more than published values, but no
 * model or image that is too large to create. NaN violates all bounds. Not thread-safe.
 */
public final class Checks {

    /**
     * A rejected setting, such as {@code depths[1]} with message {@code got 7, expected 1}.
     *
     * @param isSingleSetting false if the setting contradicts others; see {@link Checks#require}
     */
    public record Problem(String key, String message, boolean isSingleSetting) {

        private Problem below(String section) {
            return new Problem(section + "." + key, message, isSingleSetting);
        }

        @Override
        public String toString() {
            return key + ": " + message;
        }
    }

    /** Thrown for rejected settings; the message has one line per problem. */
    public static final class InvalidSettings extends IllegalArgumentException {

        private static final long serialVersionUID = 1L;

        private final transient ImmutableList<Problem> problems;

        private InvalidSettings(List<Problem> problems) {
            super(problems.stream().map(Problem::toString).collect(joining(lineSeparator())));
            this.problems = ImmutableList.copyOf(problems);
        }

        public List<Problem> problems() {
            return problems;
        }

        /** Returns the same error with keys prefixed by a section such as {@code necks[0]}. */
        public InvalidSettings below(String section) {
            return new InvalidSettings(problems.stream().map(each -> each.below(section)).toList());
        }
    }

    private static final int MAX_SHOWN = 10;

    private final List<Problem> problems = new ArrayList<>();

    /** Requires {@code least <= value <= most}. */
    public Checks inRange(String key, Number value, double least, double most) {
        return number(key, value, value.doubleValue() < least, "at least", least, most);
    }

    /** Requires {@code least <= value <= most} if a value is present. */
    public Checks inRange(String key, Optional<? extends Number> value, double least, double most) {
        value.ifPresent(number -> inRange(key, number, least, most));
        return this;
    }

    /** Requires {@code bound < value <= most}. */
    public Checks above(String key, Number value, double bound, double most) {
        return number(key, value, value.doubleValue() <= bound, "more than", bound, most);
    }

    /** Requires {@code least <= value < bound}. */
    public Checks below(String key, Number value, double least, double bound) {
        boolean tooLarge = !(value.doubleValue() < bound);
        return tooLarge
                ? add(key, value, "less than " + plain(bound))
                : inRange(key, value, least, bound);
    }

    /** Requires every number to be within inclusive bounds; reports the first violation. */
    public Checks each(String key, List<? extends Number> values, double least, double most) {
        int before = problems.size();
        for (int i = 0; i < values.size() && problems.size() == before; i++) {
            inRange(key + "[" + i + "]", values.get(i), least, most);
        }
        return this;
    }

    /** Requires a list of a fixed size with numbers within inclusive bounds. */
    public Checks each(
            String key, List<? extends Number> values, int size, double least, double most) {
        return size(key, values, size, size).each(key, values, least, most);
    }

    /** Requires a pair of numbers within inclusive bounds, the smaller one first. */
    public Checks range(String key, List<? extends Number> pair, double least, double most) {
        int before = problems.size();
        each(key, pair, 2, least, most);
        boolean fits =
                problems.size() > before || pair.get(0).doubleValue() <= pair.get(1).doubleValue();
        return fits ? this : add(key, pair, "the smaller number first");
    }

    /** Requires strictly ascending numbers. */
    public Checks ascending(String key, List<Integer> values) {
        boolean fits = values.stream().sorted().distinct().toList().equals(values);
        return fits ? this : add(key, values, "ascending numbers");
    }

    /** Requires the list size to be within inclusive bounds. */
    public Checks size(String key, List<?> values, int least, int most) {
        int size = values.size();
        if (size >= least && size <= most) {
            return this;
        }
        String bound = least == most ? "" : size < least ? "at least " : "at most ";
        return add(
                key,
                size > MAX_SHOWN ? size + " values" : values,
                "a list of length " + bound + (size < least ? least : most));
    }

    private Checks number(
            String key, Number value, boolean tooSmall, String wants, double least, double most) {
        if (tooSmall) {
            return add(key, value, wants + " " + plain(least));
        }
        return value.doubleValue() <= most ? this : add(key, value, "at most " + plain(most));
    }

    private Checks add(String key, Object value, String expected) {
        problems.add(problem(key, value, expected, true));
        return this;
    }

    private static Problem problem(String key, Object value, String expected, boolean one) {
        return new Problem(key, "got " + value + ", expected " + expected, one);
    }

    private static String plain(double bound) {
        return BigDecimal.valueOf(bound).stripTrailingZeros().toPlainString();
    }

    public List<Problem> problems() {
        return ImmutableList.copyOf(problems);
    }

    /** Throws {@link InvalidSettings} if there are problems. */
    public void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new InvalidSettings(problems);
        }
    }

    /**
     * Requires settings to be consistent with each other; check each setting on its own first.
     *
     * @param key the setting to report
     * @param expected format string that describes the expected value
     * @throws InvalidSettings if {@code fits} is false
     */
    @FormatMethod
    public static void require(
            boolean fits, String key, Object value, @FormatString String expected, Object... args) {
        if (!fits) {
            throw new InvalidSettings(
                    List.of(problem(key, value, Text.format(expected, args), false)));
        }
    }
}
