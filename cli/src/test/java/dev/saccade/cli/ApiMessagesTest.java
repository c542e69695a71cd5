package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Text;

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
 * Messages of the Java API name settings, not commands and their options; the command line adds
 * these.
 */
class ApiMessagesTest {

    /** Sources of all modules but the command line and the HTML of reports. */
    private static final Pattern SOURCES =
            Pattern.compile(
                    "\\.\\./(?!cli|report|parity)[a-z]+/src/main/java/.*\\.java"
                            + "|\\.\\./report/src/main/java/.*/predictions/.*\\.java");

    /** A comment in generated configs. */
    private static final Pattern COMMENT = Pattern.compile("# .*");

    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

    @Test
    void messagesNameNoOptions() throws IOException {
        Set<String> options = new TreeSet<>();
        for (CommandLine command : new CommandLine(new Saccade()).getSubcommands().values()) {
            options.addAll(command.getCommandSpec().optionsMap().keySet());
        }
        options.removeIf(option -> !option.startsWith("--"));
        assertTrue(options.contains("--init-from"), options.toString());
        Set<String> commands = new CommandLine(new Saccade()).getSubcommands().keySet();
        assertTrue(commands.contains("train"), commands.toString());
        Pattern named =
                Pattern.compile(
                        Text.format(
                                ".*((%s)(?![\\w-])|\\./saccade|saccade (%s)\\b|[Cc]ommand line"
                                        + "|(this|same|the) command\\b).*",
                                String.join("|", options), String.join("|", commands)));
        List<String> wrong = new ArrayList<>();
        int messages = 0;
        try (Stream<Path> files = Files.walk(Path.of(".."), 12)) {
            for (Path file : files.filter(p -> SOURCES.matcher(p.toString()).matches()).toList()) {
                String joined = Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", "");
                List<String> literals =
                        LITERAL.matcher(joined).results().map(each -> each.group(1)).toList();
                messages += literals.size();
                literals.stream()
                        .filter(text -> named.matcher(text).matches())
                        .filter(text -> !COMMENT.matcher(text).matches())
                        .forEach(text -> wrong.add(file.getFileName() + ": " + text));
            }
        }
        assertTrue(messages > 3000, messages + " messages");
        assertEquals(List.of(), wrong);
    }
}
