package dev.saccade.checkpoint;

import com.google.errorprone.annotations.Immutable;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A form of names, such as <code>{b}layers.{i}.{*}</code>, with places at which names differ.
 *
 * <p><code>{b}</code> is {@code backbone.} or nothing, <code>{i}</code> and <code>{j}</code> are
 * numbers, <code>{2i+1}</code> the number that follows from another, and <code>{*}</code> the rest
 * of the name; all else stands for itself.
 */
@Immutable
final class Template {

    private static final Pattern PLACE =
            Pattern.compile("\\{(?<kind>[b*]|(?<times>\\d?)[ij](?:\\+(?<plus>\\d))?)}");

    private final String text;
    private final Pattern pattern;

    Template(String text) {
        this.text = text;
        StringBuilder regex = new StringBuilder();
        int end = 0;
        for (Matcher place = PLACE.matcher(text); place.find(); end = place.end()) {
            regex.append(Pattern.quote(text.substring(end, place.start())));
            regex.append(
                    switch (place.group("kind")) {
                        case "b" -> "((?:backbone\\.)?)";
                        case "*" -> "(.+)";
                        default -> "(\\d{1,4})";
                    });
        }
        this.pattern = Pattern.compile(regex + Pattern.quote(text.substring(end)));
    }

    /**
     * Returns what a name has at each place, by <code>b</code>, <code>i</code>, <code>j</code> and
     * <code>*</code>; nothing, if it is of another form.
     */
    Optional<Map<String, String>> read(String name) {
        Matcher found = pattern.matcher(name);
        if (!found.matches()) {
            return Optional.empty();
        }
        Map<String, String> values = new LinkedHashMap<>();
        Matcher place = PLACE.matcher(text);
        for (int group = 1; place.find(); group++) {
            String value = found.group(group);
            if (isNumber(place)) {
                int product = Integer.parseInt(value) - plus(place);
                if (product < 0 || product % times(place) != 0) {
                    return Optional.empty();
                }
                value = Integer.toString(product / times(place));
            }
            values.put(key(place), value);
        }
        return Optional.of(values);
    }

    /** Returns the name of this form that has these values at its places. */
    String write(Map<String, String> values) {
        StringBuilder name = new StringBuilder();
        Matcher place = PLACE.matcher(text);
        while (place.find()) {
            String value = values.get(key(place));
            if (isNumber(place)) {
                int number = Integer.parseInt(value) * times(place) + plus(place);
                value = Integer.toString(number);
            }
            place.appendReplacement(name, Matcher.quoteReplacement(value));
        }
        return place.appendTail(name).toString();
    }

    private static String key(Matcher place) {
        return place.group("kind").replaceAll("[\\d+]", "");
    }

    private static boolean isNumber(Matcher place) {
        return place.group("times") != null;
    }

    private static int times(Matcher place) {
        return place.group("times").isEmpty() ? 1 : Integer.parseInt(place.group("times"));
    }

    private static int plus(Matcher place) {
        return place.group("plus") == null ? 0 : Integer.parseInt(place.group("plus"));
    }
}
