package dev.saccade.config;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.Resources;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What other toolkits call what Saccade has, for those who come from there: {@code
 * foreign_words.yaml}.
 *
 * @param commands as they are typed
 * @param options of commands
 * @param keys of configs; {@code ours} has a value, as {@code --set} takes it
 * @param values that a config may have
 */
public record ForeignWords(
        List<Word> commands, List<Word> options, List<Word> keys, List<Word> values) {

    /**
     * One thing and its names.
     *
     * @param ours what it is here; empty if there is no such thing
     * @param ultralytics what it is there, for readers
     * @param openmmlab likewise, in mmdetection and mmsegmentation
     * @param words what is recognized, without dashes in front
     * @param note what else is to be said
     */
    public record Word(
            @Default("\"\"") String ours,
            @Default("[]") List<String> ultralytics,
            @Default("[]") List<String> openmmlab,
            @Default("[]") List<String> detectron2,
            @Default("[]") List<String> torchvision,
            @Default("[]") List<String> words,
            @Default("\"\"") String note) {

        /** Returns what it is here, without the value of a key. */
        public String key() {
            return ours.replaceFirst("=.*", "");
        }
    }

    /** Returns the table. */
    public static ForeignWords table() {
        return Table.WORDS;
    }

    /** Read when somebody is mistaken, not before. */
    private static final class Table {

        private static final ForeignWords WORDS = read();
        private static final Map<String, Word> KEYS = byWord(WORDS.keys);
        private static final Map<String, Word> VALUES = byWord(WORDS.values);

        private static ForeignWords read() {
            try {
                String text =
                        Resources.toString(
                                Resources.getResource(ForeignWords.class, "foreign_words.yaml"),
                                StandardCharsets.UTF_8);
                return Configs.bind(ConfigFile.parse(text, "foreign_words"), ForeignWords.class);
            } catch (IOException e) {
                throw SaccadeException.internal(e, "foreign_words.yaml cannot be read");
            }
        }
    }

    private static Map<String, Word> byWord(List<Word> rows) {
        ImmutableMap.Builder<String, Word> byWord = ImmutableMap.builder();
        rows.forEach(row -> row.words().forEach(word -> byWord.put(lower(word), row)));
        return byWord.buildOrThrow();
    }

    private static String lower(String word) {
        return word.toLowerCase(Locale.ROOT);
    }

    /** Returns what a word of commands or options is here. */
    public static Optional<Word> find(List<Word> rows, String word) {
        return Optional.ofNullable(byWord(rows).get(lower(word)));
    }

    /** Returns what a value is among those known; empty if it is no word of others. */
    public static String ofValue(Object value, List<String> known) {
        return Optional.ofNullable(Table.VALUES.get(lower(value.toString())))
                .map(word -> word.ours().replaceFirst(".*=", ""))
                .filter(known::contains)
                .map(ours -> "; in Saccade it is " + ours)
                .orElse("");
    }

    /**
     * Returns what a key that is unknown here, or the keys below it, are in Saccade; empty if none
     * is a word of others.
     *
     * @param path of the key, for words that mean something else in other places
     */
    static String ofKey(String path, ConfigNode value) {
        String key = last(path);
        Optional<String> itself =
                Optional.ofNullable(Table.KEYS.get(lower(key))).map(ForeignWords::told);
        if (itself.isPresent()) {
            return "; " + itself.get();
        }
        List<String> below = new ArrayList<>();
        collect(key, value, below);
        return below.isEmpty()
                ? Optional.ofNullable(Table.KEYS.get(lower(path)))
                        .map(word -> "; " + told(word))
                        .orElse("")
                : "; " + String.join(", ", below);
    }

    private static void collect(String path, ConfigNode node, List<String> found) {
        if (node instanceof ConfigNode.Mapping mapping) {
            mapping.entries().forEach((key, below) -> collect(path + "." + key, below, found));
            return;
        }
        Optional.ofNullable(Table.KEYS.get(lower(path)))
                .or(() -> Optional.ofNullable(Table.KEYS.get(lower(last(path)))))
                .ifPresent(word -> found.add(path + ": " + told(word)));
    }

    private static String last(String path) {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    private static String told(Word word) {
        return word.ours().isEmpty() ? word.note() : "in Saccade it is " + word.key();
    }
}
