package dev.saccade.core.ops.script;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedSet;
import com.google.common.io.Resources;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A {@link Script} with constants, compiled once for each combination of values. Use constants for
 * hyperparameters; read map sizes from tensors instead, as they have too many values.
 */
public final class ScriptTemplate {

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{([a-z]\\w*)}");

    private final String signature;
    private final String body;
    private final Set<String> names;
    private final Map<Map<String, ?>, Script> compiled = new ConcurrentHashMap<>();

    private ScriptTemplate(String signature, String body) {
        this.signature = signature;
        this.body = body;
        this.names =
                PLACEHOLDER
                        .matcher(body)
                        .results()
                        .map(found -> found.group(1))
                        .collect(ImmutableSortedSet.toImmutableSortedSet(String::compareTo));
    }

    /** Creates a template; the body may contain constants as <code>{name}</code>. */
    public static ScriptTemplate of(String signature, String body) {
        return new ScriptTemplate(signature, body);
    }

    /**
     * Reads a function from the TorchScript file of a class: {@code Name.py} in its package, with
     * functions {@code def name(x: Tensor) -> Tensor:} and constants as <code>{name}</code>.
     */
    public static ScriptTemplate read(Class<?> owner, String function) {
        URL file = Resources.getResource(owner, owner.getSimpleName() + ".py");
        try {
            String text = Resources.toString(file, StandardCharsets.UTF_8);
            Matcher found =
                    Pattern.compile("(?ms)^def " + function + "(\\(.*?):\\n(.*?)(?=^def |\\z)")
                            .matcher(text);
            checkArgument(found.find(), "%s: no function %s", file, function);
            return new ScriptTemplate(found.group(1), found.group(2).stripTrailing().stripIndent());
        } catch (IOException e) {
            throw SaccadeException.internal(e, "%s: cannot be read", file);
        }
    }

    /** Returns the script with constants by name: numbers, booleans, texts or lists of numbers. */
    public Script with(Map<String, ?> constants) {
        return compiled.computeIfAbsent(
                Map.copyOf(constants), key -> Script.compile(signature, filledIn(key)));
    }

    private String filledIn(Map<String, ?> constants) {
        checkArgument(
                names.equals(constants.keySet()),
                "script constants: got %s, expected %s, in%s%s",
                ImmutableSortedSet.copyOf(constants.keySet()),
                names,
                System.lineSeparator(),
                body);
        return PLACEHOLDER
                .matcher(body)
                .replaceAll(
                        (MatchResult found) ->
                                Matcher.quoteReplacement(
                                        Script.literal(constants.get(found.group(1)))));
    }
}
