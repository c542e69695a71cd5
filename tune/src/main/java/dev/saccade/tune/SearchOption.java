package dev.saccade.tune;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses dimensions such as {@code model.neck.out_channels=[64, 128]}. */
final class SearchOption {

    private static final Pattern FORM = Pattern.compile("([A-Za-z0-9_.\\[\\]-]+)=(.+)");
    private static final Pattern LIST = Pattern.compile("\\[(.*)]", Pattern.DOTALL);
    private static final Pattern RANGE = Pattern.compile("([0-9.eE+-]+?)\\.\\.([0-9.eE+-]+)");

    /** Settings that a search sets for all trials. */
    private static final Pattern FIXED =
            Pattern.compile(
                    "(epochs|iterations|schedule|data\\.(train|val|workers|num_last_epochs)"
                            + "|evaluation|checkpoint)(\\..+|\\[.+)?");

    private SearchOption() {}

    /** Parses {@code KEY=[A, B, ...]} or {@code KEY=LOW..HIGH}; each value must fit the config. */
    static Dimension parse(String text, RunConfig base) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw wrong(text);
        }
        String key = form.group(1);
        if (FIXED.matcher(key).matches()) {
            throw SaccadeException.user(
                    "search %s: the search sets %s for all trials; search other settings",
                    text, key);
        }
        Matcher list = LIST.matcher(form.group(2).strip());
        Matcher range = RANGE.matcher(form.group(2).strip());
        Dimension dimension;
        if (list.matches()) {
            List<Choice> choices =
                    items(list.group(1)).stream()
                            .map(item -> Choice.of(item, key + "=" + item))
                            .toList();
            if (choices.isEmpty()) {
                throw wrong(text);
            }
            choices.forEach(choice -> require(text, choice, base));
            dimension = new ListDimension(key, choices);
        } else if (range.matches()) {
            dimension = range(text, key, range, base);
        } else {
            throw wrong(text);
        }
        return dimension;
    }

    private static RangeDimension range(String text, String key, Matcher range, RunConfig base) {
        double low = number(text, range.group(1));
        double high = number(text, range.group(2));
        if (!(low > 0 && high > low)) {
            throw wrong(text);
        }
        boolean isWhole =
                low == Math.rint(low)
                        && high == Math.rint(high)
                        && !fits(Choice.of("", key + "=" + low), base);
        for (double bound : new double[] {low, high}) {
            String value = isWhole ? Long.toString((long) bound) : Double.toString(bound);
            require(text, Choice.of("", key + "=" + value), base);
        }
        return new RangeDimension(key, key, low, high, isWhole);
    }

    private static boolean fits(Choice choice, RunConfig base) {
        try {
            base.with(choice.overrides().toArray(String[]::new));
            return true;
        } catch (SaccadeException e) {
            return false;
        }
    }

    private static double number(String text, String number) {
        try {
            return Double.parseDouble(number);
        } catch (NumberFormatException e) {
            throw wrong(text);
        }
    }

    /** Splits at commas outside of brackets, braces and quotes. */
    private static List<String> items(String list) {
        List<String> items = new ArrayList<>();
        int depth = 0;
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i <= list.length(); i++) {
            char c = i < list.length() ? list.charAt(i) : ',';
            quoted ^= c == '"';
            depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
            if (c == ',' && !quoted && depth == 0) {
                String item = list.substring(start, i).strip();
                if (!item.isEmpty()) {
                    items.add(item);
                }
                start = i + 1;
            }
        }
        return items;
    }

    private static void require(String text, Choice choice, RunConfig base) {
        try {
            base.with(choice.overrides().toArray(String[]::new));
        } catch (SaccadeException e) {
            throw SaccadeException.user("search %s: %s", text, e.getMessage());
        }
    }

    private static SaccadeException wrong(String text) {
        return SaccadeException.user(
                "search: got %s, expected KEY=[VALUE, VALUE, ...] or KEY=LOW..HIGH, such as"
                        + " model.neck.out_channels=[64, 128] or"
                        + " optimizer.weight_decay=1e-3..1e-1",
                text);
    }
}
