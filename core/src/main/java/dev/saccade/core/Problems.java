package dev.saccade.core;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Collects user errors so that they are reported together. Not thread-safe. */
public final class Problems implements Printable.Lines {

    /** Limits the length of a report. */
    private static final int MAX_SHOWN = 50;

    private final List<String> messages = new ArrayList<>();

    @FormatMethod
    public void add(@FormatString String format, Object... args) {
        messages.add(Printable.format(format, args));
    }

    public void addAll(List<Checks.Problem> rejected) {
        rejected.forEach(problem -> add("%s", problem));
    }

    public boolean isEmpty() {
        return messages.isEmpty();
    }

    public List<String> messages() {
        return ImmutableList.copyOf(messages);
    }

    /** If there are errors, throws a user error with the subject and at most 50 of them. */
    public void throwIfAny(String subject) {
        if (messages.size() == 1) {
            throw SaccadeException.user("%s:%s", subject, this);
        }
        if (!messages.isEmpty()) {
            throw SaccadeException.user("%s: %d problems%s", subject, messages.size(), this);
        }
    }

    /** Returns one error after a space, or at most 50 errors on separate lines. */
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
