package dev.saccade.core.conversion;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.collect.ImmutableSet.toImmutableSet;

import com.google.errorprone.annotations.Immutable;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A form of names, such as <code>{b}layers.{i}.{*}</code>, with places at which names differ.
 *
 * <p><code>{b}</code> is {@code backbone.} or nothing, <code>{i}</code>, <code>{j}</code> and
 * <code>{k}</code> are numbers, <code>{2i+1}</code> the number that follows from another, and
 * <code>{*}</code> the rest of the name; all else stands for itself.
 */
@Immutable
public final class NamePattern {

    private static final Pattern PLACE =
            Pattern.compile("\\{(?<kind>[b*]|(?<times>[1-9]?)[ijk](?:\\+(?<plus>\\d))?)}");

    private final String text;
    private final Pattern pattern;

    /**
     * Makes a form.
     *
     * @throws IllegalArgumentException if it has other places than these
     */
    public NamePattern(String text) {
        checkArgument(
                !PLACE.matcher(text).replaceAll("").matches(".*[{}].*"),
                "%s: expected names with the places {b}, {i}, {j}, {k}, {2i+1} and {*} alone",
                text);
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

    /** Returns whether a name is of this form. */
    public boolean matches(String name) {
        return read(name).isPresent();
    }

    /** Returns the places at which names differ, by the keys of {@link #read}. */
    Set<String> places() {
        return PLACE.matcher(text)
                .results()
                .map(place -> key(place.group()))
                .collect(toImmutableSet());
    }

    /**
     * Returns what a name has at each place, by <code>b</code>, <code>i</code>, <code>j</code>,
     * <code>k</code> and <code>*</code>; nothing, if it is of another form.
     */
    public Optional<Map<String, String>> read(String name) {
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
            values.put(key(place.group()), value);
        }
        return Optional.of(values);
    }

    /** Returns the name of this form that has these values at its places. */
    public String write(Map<String, String> values) {
        StringBuilder name = new StringBuilder();
        Matcher place = PLACE.matcher(text);
        while (place.find()) {
            String value = values.get(key(place.group()));
            if (isNumber(place)) {
                int number = Integer.parseInt(value) * times(place) + plus(place);
                value = Integer.toString(number);
            }
            place.appendReplacement(name, Matcher.quoteReplacement(value));
        }
        return place.appendTail(name).toString();
    }

    private static String key(String place) {
        return place.replaceAll("[\\d+{}]", "");
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

    @Override
    public boolean equals(Object other) {
        return other instanceof NamePattern pattern && text.equals(pattern.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
