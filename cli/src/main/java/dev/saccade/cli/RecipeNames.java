package dev.saccade.cli;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Iterables;

import dev.saccade.config.Suggestions;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;

import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds bundled configs by name. */
final class RecipeNames {

    private static final int MAX_SUGGESTIONS = 3;

    private RecipeNames() {}

    /**
     * Returns the full name of a bundled config; error messages suggest similar names.
     *
     * @param named path below {@code configs/}, or its last part if unique; {@code configs/} and
     *     {@code .yaml} are optional
     */
    static String require(Path named, String expected) {
        String name =
                named.toString()
                        .replace('\\', '/')
                        .replaceFirst("^(\\./)?(configs/)?", "")
                        .replaceFirst("\\.ya?ml$", "");
        List<String> all = Zoo.packaged().recipes().stream().map(Recipe::name).toList();
        List<String> matches =
                all.stream().filter(each -> each.equals(name) || stem(each).equals(name)).toList();
        if (matches.size() > 1) {
            throw SaccadeException.user(
                    "%s: matches several configs; expected one of %s",
                    named, String.join(", ", matches));
        }
        if (matches.isEmpty()) {
            throw PathKind.error(named, expected + suggestion(name, all));
        }
        return Iterables.getOnlyElement(matches);
    }

    private static String stem(String name) {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    private static String suggestion(String name, List<String> all) {
        boolean isWhole = name.contains("/");
        Set<String> candidates =
                isWhole
                        ? ImmutableSet.copyOf(all)
                        : all.stream()
                                .map(RecipeNames::stem)
                                .collect(Collectors.toCollection(LinkedHashSet::new));
        List<String> longer = candidates.stream().filter(each -> each.startsWith(name)).toList();
        List<String> near =
                longer.isEmpty()
                        ? Suggestions.findAll(name, candidates, MAX_SUGGESTIONS)
                        : longer.subList(0, Math.min(MAX_SUGGESTIONS, longer.size()));
        return near.isEmpty() ? "" : "; did you mean " + String.join(" or ", near) + "?";
    }
}
