package dev.saccade.config;

import com.google.common.io.Resources;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Terms of other toolkits and their equivalents in Saccade, from {@code toolkit_terms.yaml}.
 *
 * @param keys config keys; their equivalents have the form {@code KEY=VALUE}
 */
public record ToolkitTerms(
        List<Term> commands, List<Term> options, List<Term> keys, List<Term> values) {

    public static final ToolkitTerms ALL = read();

    /**
     * A term.
     *
     * @param saccade the equivalent in Saccade; empty if there is none
     * @param ultralytics names in Ultralytics, shown in the migration guide; likewise the next
     *     three
     * @param words all recognized words, without leading dashes
     * @param note explanation, shown alone without an equivalent; the command line also shows it
     *     after the equivalent
     */
    public record Term(
            @Default("\"\"") String saccade,
            @Default("[]") List<String> ultralytics,
            @Default("[]") List<String> openmmlab,
            @Default("[]") List<String> detectron2,
            @Default("[]") List<String> torchvision,
            @Default("[]") List<String> words,
            @Default("\"\"") String note) {

        /** Returns the equivalent without its value. */
        public String key() {
            return saccade.replaceFirst("=.*", "");
        }

        private String hint() {
            return saccade.isEmpty() ? note : "in Saccade it is " + key();
        }
    }

    private static ToolkitTerms read() {
        try {
            String text =
                    Resources.toString(
                            Resources.getResource(ToolkitTerms.class, "toolkit_terms.yaml"),
                            StandardCharsets.UTF_8);
            return Configs.bind(ConfigFile.parse(text, "toolkit_terms"), ToolkitTerms.class);
        } catch (IOException e) {
            throw SaccadeException.internal(e, "toolkit_terms.yaml cannot be read");
        }
    }

    /** Finds the term with a word, ignoring case. */
    public static Optional<Term> find(List<Term> terms, String word) {
        return terms.stream()
                .filter(term -> term.words().stream().anyMatch(word::equalsIgnoreCase))
                .findFirst();
    }

    /** Returns a hint for a value of another toolkit; empty if unknown. */
    public static String hintForValue(Object value, List<String> known) {
        return find(ALL.values, value.toString())
                .map(term -> term.saccade().replaceFirst(".*=", ""))
                .filter(known::contains)
                .map(saccade -> "; in Saccade it is " + saccade)
                .orElse("");
    }

    /**
     * Returns a hint for an unknown key, for the keys below it, or for its full path; empty if
     * there is none.
     */
    static String hintForKey(String path, ConfigNode value) {
        return find(ALL.keys, last(path))
                .map(Term::hint)
                .or(() -> below(last(path), value).reduce((a, b) -> a + ", " + b))
                .or(() -> find(ALL.keys, path).map(Term::hint))
                .map(hint -> "; " + hint)
                .orElse("");
    }

    private static Stream<String> below(String path, ConfigNode node) {
        return node instanceof ConfigNode.Mapping mapping
                ? mapping.entries().entrySet().stream()
                        .flatMap(entry -> below(path + "." + entry.getKey(), entry.getValue()))
                : find(ALL.keys, path)
                        .or(() -> find(ALL.keys, last(path)))
                        .map(term -> path + ": " + term.hint())
                        .stream();
    }

    private static String last(String path) {
        return path.substring(path.lastIndexOf('.') + 1);
    }
}
