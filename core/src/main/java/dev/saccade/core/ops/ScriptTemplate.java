package dev.saccade.core.ops;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A {@link Script} with constants to be baked in, compiled once for each set of them.
 *
 * <p>The constants are hyper-parameters such as a window size; sizes of maps, of which there is no
 * end, are asked of the tensors instead.
 */
public final class ScriptTemplate {

    private final String signature;
    private final String body;
    private final Map<List<Object>, Script> compiled = new ConcurrentHashMap<>();

    private ScriptTemplate(String signature, String body) {
        this.signature = signature;
        this.body = body;
    }

    /**
     * Makes a template.
     *
     * @param signature as of a {@link Script}
     * @param body as of a {@link Script}, with the constants as {@code %1$s}, {@code %2$s} and a
     *     remainder as {@code %%}
     */
    public static ScriptTemplate of(String signature, String body) {
        return new ScriptTemplate(signature, body);
    }

    /** Returns the script with these constants. */
    public Script with(Object... constants) {
        return compiled.computeIfAbsent(
                List.of(constants),
                key -> Script.compile(signature, body.formatted(key.toArray())));
    }
}
