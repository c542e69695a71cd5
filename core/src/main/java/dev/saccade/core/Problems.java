package dev.saccade.core;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Collects a user's mistakes so that they are reported together, not one a run.
 *
 * <p>Not thread-safe.
 */
public final class Problems implements Printable.Lines {

    /** Who has mended so many looks again anyway. */
    private static final int MAX_SHOWN = 50;

    private final List<String> messages = new ArrayList<>();

    /** Adds a mistake: what, where, got, expected, what to do. */
    @FormatMethod
    public void add(@FormatString String format, Object... args) {
        messages.add(Printable.format(format, args));
    }

    /** Adds rejected settings. */
    public void addAll(List<Checks.Problem> rejected) {
        rejected.forEach(problem -> add("%s", problem));
    }

    /** Returns whether none was found. */
    public boolean isEmpty() {
        return messages.isEmpty();
    }

    /** Returns the mistakes in the order in which they were found. */
    public List<String> messages() {
        return ImmutableList.copyOf(messages);
    }

    /**
     * Throws one {@link SaccadeException} of kind {@code USER} that lists the mistakes, 50 at most,
     * if there are any.
     *
     * @param subject what was looked at, such as a file name; the first line of the message
     */
    public void throwIfAny(String subject) {
        if (messages.size() == 1) {
            throw SaccadeException.user("%s:%s", subject, this);
        }
        if (!messages.isEmpty()) {
            throw SaccadeException.user("%s: %d problems%s", subject, messages.size(), this);
        }
    }

    /** Returns one mistake behind a blank, more in a line each, the first 50 of them. */
    @Override
    public String toString() {
        String start = messages.size() == 1 ? " " : System.lineSeparator() + "  - ";
        String shown =
                messages.stream()
                        .limit(MAX_SHOWN)
                        .map(message -> start + message)
                        .collect(Collectors.joining());
        int more = messages.size() - MAX_SHOWN;
        return more > 0 ? Text.format("%s%sand %d more", shown, start, more) : shown;
    }
}
