package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Compares the messages of {@code troubleshooting.md} and {@code gpu.md} with the sources. */
class ErrorsPageTest {

    /** First cell of a row, with at least one message. */
    private static final Pattern ROW = Pattern.compile("^\\| (`[^|]+`) \\|", Pattern.MULTILINE);

    private static final Pattern MESSAGE = Pattern.compile("`([^`]+)`");

    /** Placeholder for a value: a word in capitals, or dots. */
    private static final Pattern PLACEHOLDER = Pattern.compile("\\b[A-Z]+\\b|…");

    /** Stands for values that are inserted at run time. */
    private static final String FILLED = "§";

    /** Only operators among the native sources have messages for users. */
    private static final String SOURCES = ".*/src/main/(java/.*\\.java|native/.*_op\\.cpp)";

    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

    @Test
    void messagesAreInTheSources() throws IOException {
        List<String> messages = messages();
        List<String> unknown = new ArrayList<>();
        List<String> output = new ArrayList<>(messagesOf("troubleshooting.md", ""));
        output.addAll(messagesOf("gpu.md", "## Fix errors"));
        for (String message : output) {
            Pattern pattern = pattern(message);
            if (messages.stream().noneMatch(text -> pattern.matcher(text).find())) {
                unknown.add(message);
            }
        }
        assertTrue(output.size() >= 60, output.size() + " messages");
        assertEquals(List.of(), unknown, "messages that nothing says");
    }

    /** Returns the messages below a heading. */
    private static List<String> messagesOf(String name, String heading) throws IOException {
        String page = Files.readString(Path.of("..", "docs", name));
        return ROW.matcher(page.substring(page.indexOf(heading)))
                .results()
                .flatMap(row -> MESSAGE.matcher(row.group(1)).results())
                .map(message -> message.group(1))
                .toList();
    }

    /** Returns a pattern for a message in the sources. */
    private static Pattern pattern(String message) {
        StringBuilder pattern = new StringBuilder();
        int at = 0;
        int fixed = 0;
        for (MatchResult place : PLACEHOLDER.matcher(message).results().toList()) {
            String before = message.substring(at, place.start());
            fixed += before.length();
            pattern.append(Pattern.quote(before));
            String word = place.group();
            pattern.append(word.equals("…") ? ".*" : "(?:" + FILLED + "|" + word + "|$)");
            at = place.end();
        }
        fixed += message.length() - at;
        assertTrue(fixed >= 6, message + ": too little to be recognized by");
        return Pattern.compile(pattern + Pattern.quote(message.substring(at)));
    }

    /** Returns the string literals of all sources. */
    private static List<String> messages() throws IOException {
        List<String> messages = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of(".."), 12)) {
            for (Path file : files.filter(path -> path.toString().matches(SOURCES)).toList()) {
                String joined =
                        Files.readString(file)
                                .replaceAll("\"\\s*\\+\\s*\"", "")
                                .replaceAll("\"\\s*\\+[^\";,]*?\\+\\s*\"", FILLED);
                LITERAL.matcher(joined)
                        .results()
                        .map(literal -> literal.group(1))
                        .map(text -> text.replaceAll("%(\\.\\d+)?[a-z]|\\{\\}", FILLED))
                        .map(text -> text.replace("%%", "%").replace("\\\"", "\""))
                        .forEach(messages::add);
            }
        }
        return messages;
    }
}
