package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import picocli.CommandLine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Messages of the Java API name settings, not command line options; the command line adds these.
 */
class ApiMessagesTest {

    /** Sources of all modules but the command line and the HTML of reports. */
    private static final Pattern SOURCES =
            Pattern.compile("\\.\\./(?!cli|report|parity)[a-z]+/src/main/java/.*\\.java");

    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

    @Test
    void messagesNameNoOptions() throws IOException {
        Set<String> options = new TreeSet<>();
        for (CommandLine command : new CommandLine(new Saccade()).getSubcommands().values()) {
            options.addAll(command.getCommandSpec().optionsMap().keySet());
        }
        options.removeIf(option -> !option.startsWith("--"));
        assertTrue(options.contains("--init-from"), options.toString());
        Pattern named = Pattern.compile(".*(" + String.join("|", options) + ")(?![\\w-]).*");
        List<String> wrong = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of(".."), 12)) {
            for (Path file : files.filter(p -> SOURCES.matcher(p.toString()).matches()).toList()) {
                LITERAL.matcher(Files.readString(file))
                        .results()
                        .map(literal -> literal.group(1))
                        .filter(text -> !text.equals("--set"))
                        .filter(text -> named.matcher(text).matches())
                        .forEach(text -> wrong.add(file.getFileName() + ": " + text));
            }
        }
        assertEquals(List.of(), wrong);
    }
}
