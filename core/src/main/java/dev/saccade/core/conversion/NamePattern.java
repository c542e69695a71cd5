package dev.saccade.core.conversion;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.collect.ImmutableSet.toImmutableSet;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.Immutable;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Pattern of parameter names, such as <code>{b}layers.{i}.{*}</code>.
 *
 * <p><code>{b}</code> matches {@code backbone.} or nothing, <code>{i}</code>, <code>{j}</code> and
 * <code>{k}</code> match numbers, <code>{2i+1}</code> a number computed from another placeholder,
 * and <code>{*}</code> the rest of the name. All other characters are literal.
 */
@Immutable
public final class NamePattern {

    private static final Pattern PLACEHOLDER =
            Pattern.compile("\\{(?:([b*])|([1-9]?)([ijk])(?:\\+(\\d))?)}");

    private final String text;
    private final Pattern pattern;
    private final ImmutableList<Placeholder> placeholders;

    /** A number {@code times * value + plus}, or text if {@code times} is 0. */
    @Immutable
    private record Placeholder(String key, int times, int plus) {}

    public NamePattern(String text) {
        checkArgument(
                !PLACEHOLDER.matcher(text).replaceAll("").matches(".*[{}].*"),
                "%s: expected only the placeholders {b}, {i}, {j}, {k}, {2i+1} and {*}",
                text);
        this.text = text;
        StringBuilder regex = new StringBuilder();
        ImmutableList.Builder<Placeholder> found = ImmutableList.builder();
        int end = 0;
        for (Matcher place = PLACEHOLDER.matcher(text); place.find(); end = place.end()) {
            regex.append(Pattern.quote(text.substring(end, place.start())));
            String kind = place.group(1);
            if (kind == null) {
                regex.append("(\\d{1,4})");
                int times = number(place.group(2), 1);
                found.add(new Placeholder(place.group(3), times, number(place.group(4), 0)));
            } else {
                regex.append(kind.equals("b") ? "((?:backbone\\.)?)" : "(.+)");
                found.add(new Placeholder(kind, 0, 0));
            }
        }
        this.pattern = Pattern.compile(regex + Pattern.quote(text.substring(end)));
        this.placeholders = found.build();
    }

    private static int number(String digit, int otherwise) {
        return digit == null || digit.isEmpty() ? otherwise : Integer.parseInt(digit);
    }

    public boolean matches(String name) {
        return read(name).isPresent();
    }

    /** Returns the names of the placeholders, which {@link #read} uses as keys. */
    Set<String> placeholders() {
        return placeholders.stream().map(Placeholder::key).collect(toImmutableSet());
    }

    /** Returns the values of the placeholders; empty if the name does not match. */
    public Optional<Map<String, String>> read(String name) {
        Matcher found = pattern.matcher(name);
        if (!found.matches()) {
            return Optional.empty();
        }
        Map<String, String> values = new LinkedHashMap<>();
        int group = 1;
        for (Placeholder place : placeholders) {
            String value = found.group(group++);
            if (place.times > 0) {
                int product = Integer.parseInt(value) - place.plus;
                if (product < 0 || product % place.times != 0) {
                    return Optional.empty();
                }
                value = Integer.toString(product / place.times);
            }
            values.put(place.key, value);
        }
        return Optional.of(values);
    }

    /** Returns the name with the given placeholder values. */
    public String write(Map<String, String> values) {
        Iterator<Placeholder> next = placeholders.iterator();
        return PLACEHOLDER
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(written(next.next(), values)));
    }

    private static String written(Placeholder place, Map<String, String> values) {
        String value = values.get(place.key);
        return place.times == 0
                ? value
                : Integer.toString(Integer.parseInt(value) * place.times + place.plus);
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
