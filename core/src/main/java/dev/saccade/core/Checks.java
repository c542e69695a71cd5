package dev.saccade.core;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Collects what is wrong with the numbers of a record, key by key, in its canonical constructor:
 * {@code KEY: got VALUE, expected at most 100}.
 *
 * <p>Every number of a config has a bound on both sides, so that none makes a model that cannot be
 * built or an image that cannot be held; what is no number is out of all bounds. Bounds are far
 * beyond what is published. Not thread-safe.
 */
public final class Checks {

    /** What a record refuses; the message has one line for each mistake. */
    public static final class Refusal extends IllegalArgumentException {

        private static final long serialVersionUID = 1L;

        private final ImmutableList<String> problems;

        private Refusal(List<String> problems) {
            super(String.join(System.lineSeparator(), problems));
            this.problems = ImmutableList.copyOf(problems);
        }

        /** Returns the mistakes, each behind its key: {@code KEY: got VALUE, expected WHAT}. */
        public List<String> problems() {
            return problems;
        }
    }

    private static final int MOST_SHOWN = 10;

    private final List<String> problems = new ArrayList<>();

    /** Wants a number between two others, both included. */
    public Checks within(String key, Number value, double least, double most) {
        return number(key, value, value.doubleValue() < least, "at least", least, most);
    }

    /** Wants a number, if there is one, between two others, both included. */
    public Checks within(String key, Optional<? extends Number> value, double least, double most) {
        value.ifPresent(number -> within(key, number, least, most));
        return this;
    }

    /** Wants a number above one and up to another. */
    public Checks above(String key, Number value, double bound, double most) {
        return number(key, value, value.doubleValue() <= bound, "more than", bound, most);
    }

    /** Wants a number from one up to another, which is not included. */
    public Checks below(String key, Number value, double least, double bound) {
        boolean tooLarge = !(value.doubleValue() < bound);
        return tooLarge
                ? add(key, value, "less than " + plain(bound))
                : within(key, value, least, bound);
    }

    /** Wants numbers between two others, both included; names the first of a list that is not. */
    public Checks each(String key, List<? extends Number> values, double least, double most) {
        int before = problems.size();
        for (int i = 0; i < values.size() && problems.size() == before; i++) {
            within(key + "[" + i + "]", values.get(i), least, most);
        }
        return this;
    }

    /** Wants numbers each of which is greater than the one before. */
    public Checks ascending(String key, List<Integer> values) {
        boolean fits = values.stream().sorted().distinct().toList().equals(values);
        return fits ? this : add(key, values, "ascending numbers");
    }

    /** Wants a list of at least and at most so many values. */
    public Checks size(String key, List<?> values, int least, int most) {
        int size = values.size();
        if (size >= least && size <= most) {
            return this;
        }
        String bound = least == most ? "" : size < least ? "at least " : "at most ";
        return add(
                key,
                size > MOST_SHOWN ? size + " values" : values,
                "a list of " + bound + (size < least ? least : most));
    }

    private Checks number(
            String key, Number value, boolean tooSmall, String wants, double least, double most) {
        if (tooSmall) {
            return add(key, value, wants + " " + plain(least));
        }
        return value.doubleValue() <= most ? this : add(key, value, "at most " + plain(most));
    }

    private Checks add(String key, Object value, String expected) {
        problems.add(message(key, value, expected));
        return this;
    }

    private static String message(String key, Object value, String expected) {
        return key + ": got " + value + ", expected " + expected;
    }

    private static String plain(double bound) {
        return BigDecimal.valueOf(bound).stripTrailingZeros().toPlainString();
    }

    /**
     * Ends the checks.
     *
     * @throws Refusal if anything is wrong
     */
    public void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new Refusal(problems);
        }
    }

    /**
     * Wants values to go together, once each of them is within its bounds.
     *
     * @param key the one that is blamed
     * @param expected what it should be
     * @throws IllegalArgumentException unless they do
     */
    @FormatMethod
    public static void require(
            boolean fits, String key, Object value, @FormatString String expected, Object... args) {
        if (!fits) {
            throw new IllegalArgumentException(message(key, value, Text.format(expected, args)));
        }
    }
}
