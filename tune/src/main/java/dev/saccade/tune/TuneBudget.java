package dev.saccade.tune;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Budget of a search: wall time in seconds, or the number of optimizer steps of all jobs. With a
 * number of steps, the plan does not depend on the speed of the machine.
 */
public record TuneBudget(double amount, Unit unit) {

    public enum Unit {
        SECONDS,
        STEPS
    }

    private static final double MAX = 1e9;

    private static final Pattern TIME =
            Pattern.compile("(?:(\\d+(?:\\.\\d+)?)h)?(?:(\\d+(?:\\.\\d+)?)m)?(?:(\\d+)s)?");

    private static final Pattern STEPS = Pattern.compile("(\\d+) ?steps");

    /** Parses a budget such as {@code 2h}, {@code 1h30m}, {@code 90s} or {@code 20000 steps}. */
    public static TuneBudget parse(String text) {
        Matcher steps = STEPS.matcher(text);
        if (steps.matches()) {
            return positive(text, Double.parseDouble(steps.group(1)), Unit.STEPS);
        }
        Matcher time = TIME.matcher(text);
        if (!time.matches()) {
            throw wrong(text);
        }
        double seconds =
                3600 * number(time.group(1)) + 60 * number(time.group(2)) + number(time.group(3));
        return positive(text, seconds, Unit.SECONDS);
    }

    private static double number(String digits) {
        return digits == null ? 0 : Double.parseDouble(digits);
    }

    private static TuneBudget positive(String text, double amount, Unit unit) {
        if (!(amount > 0 && amount <= MAX)) {
            throw wrong(text);
        }
        return new TuneBudget(amount, unit);
    }

    private static SaccadeException wrong(String text) {
        return SaccadeException.user(
                "budget: got %s, expected a time such as 2h, 1h30m or 90s, or a number of steps"
                        + " such as 20000steps, up to 1e9",
                text.isEmpty() ? "nothing" : text);
    }

    public boolean isTime() {
        return unit == Unit.SECONDS;
    }

    /** Returns an amount in this unit as text. */
    String describe(double value) {
        return isTime() ? Durations.text(value) : Text.format("%.0f steps", value);
    }
}
