package dev.saccade.config;

import com.google.common.base.Suppliers;
import com.google.common.io.Resources;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Terms of other toolkits and their equivalents in Saccade: {@code foreign_words.yaml}.
 *
 * @param commands command names
 * @param options command-line options
 * @param keys config keys; {@code ours} has a value, as in {@code --set}
 * @param values config values
 */
public record ForeignWords(
        List<Word> commands, List<Word> options, List<Word> keys, List<Word> values) {

    /**
     * A term.
     *
     * @param ours the equivalent in Saccade; empty if there is none
     * @param ultralytics name there, for the migration guide; the next three likewise
     * @param words recognized words, without leading dashes
     * @param note hint where there is no equivalent
     */
    public record Word(
            @Default("\"\"") String ours,
            @Default("[]") List<String> ultralytics,
            @Default("[]") List<String> openmmlab,
            @Default("[]") List<String> detectron2,
            @Default("[]") List<String> torchvision,
            @Default("[]") List<String> words,
            @Default("\"\"") String note) {

        /** Returns the equivalent without its value. */
        public String key() {
            return ours.replaceFirst("=.*", "");
        }
    }

    private static final Supplier<ForeignWords> TABLE = Suppliers.memoize(ForeignWords::read);

    /** Returns the table; reads it on the first call. */
    public static ForeignWords table() {
        return TABLE.get();
    }

    private static ForeignWords read() {
        try {
            URL table = Resources.getResource(ForeignWords.class, "foreign_words.yaml");
            String text = Resources.toString(table, StandardCharsets.UTF_8);
            return Configs.bind(ConfigFile.parse(text, "foreign_words"), ForeignWords.class);
        } catch (IOException e) {
            throw SaccadeException.internal(e, "foreign_words.yaml cannot be read");
        }
    }

    /** Returns the row of a word, in any case. */
    public static Optional<Word> find(List<Word> rows, String word) {
        return rows.stream()
                .filter(row -> row.words().stream().anyMatch(word::equalsIgnoreCase))
                .findFirst();
    }

    /** Returns a hint for the value of another toolkit, if its equivalent is known here. */
    public static String ofValue(Object value, List<String> known) {
        return find(table().values, value.toString())
                .map(word -> word.ours().replaceFirst(".*=", ""))
                .filter(known::contains)
                .map(ours -> "; in Saccade it is " + ours)
                .orElse("");
    }

    /**
     * Returns a hint for an unknown key: for the key itself, else for the keys below it, else for
     * its full path; empty if no toolkit has it.
     */
    static String ofKey(String path, ConfigNode value) {
        List<Word> keys = table().keys;
        String key = last(path);
        List<String> hints = new ArrayList<>();
        find(keys, key).ifPresent(word -> hints.add(hint(word)));
        if (hints.isEmpty()) {
            addHints(keys, key, value, hints);
        }
        if (hints.isEmpty()) {
            find(keys, path).ifPresent(word -> hints.add(hint(word)));
        }
        return hints.isEmpty() ? "" : "; " + String.join(", ", hints);
    }

    private static void addHints(
            List<Word> keys, String path, ConfigNode node, List<String> hints) {
        if (node instanceof ConfigNode.Mapping mapping) {
            mapping.entries()
                    .forEach((key, below) -> addHints(keys, path + "." + key, below, hints));
        } else {
            find(keys, path)
                    .or(() -> find(keys, last(path)))
                    .ifPresent(word -> hints.add(path + ": " + hint(word)));
        }
    }

    private static String last(String path) {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    private static String hint(Word word) {
        return word.ours().isEmpty() ? word.note() : "in Saccade it is " + word.key();
    }
}
