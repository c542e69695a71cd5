package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.testsupport.DocPage;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

/** Runs the commands and programs of a page of {@code docs/} in a folder. */
final class PageRun {

    /** Expected output: a block without a language, below a sentence. */
    private static final Pattern OUTPUT =
            Pattern.compile("[:.]\n\n```\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern COMMANDS =
            Pattern.compile("^```sh\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    /** A message at the end of a line. */
    private static final Pattern QUOTE = Pattern.compile("(?:: |\n  )`([^`\n]+)`\n");

    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    /** Class path on the pages, replaced by the class path of the test. */
    static final String CLASS_PATH = "cli/target/saccade/lib/*";

    private final String text;
    private final Path folder;

    private PageRun(String text, Path folder) {
        this.text = text;
        this.folder = folder;
    }

    /** Copies the configs and the files of a page into a folder. */
    static PageRun in(Path folder, String name) throws IOException {
        DocPage page = DocPage.of(name);
        Files.createSymbolicLink(folder.resolve("configs"), Path.of("..", "configs").toRealPath());
        page.writeTo(folder);
        return new PageRun(page.text(), folder);
    }

    String text() {
        return text;
    }

    /** Returns the expected outputs of the page. */
    List<String> outputs() {
        return OUTPUT.matcher(text).results().map(output -> output.group(1)).toList();
    }

    /** Returns the messages quoted on the page that an output contains. */
    List<String> quotesIn(String output) {
        return QUOTE.matcher(text)
                .results()
                .map(quote -> quote.group(1))
                .filter(output::contains)
                .toList();
    }

    /**
     * Runs all commands of the page, checks the expected outputs and returns everything printed.
     *
     * @param quick replaces the words of a command by a faster one
     */
    String run(UnaryOperator<List<String>> quick) throws Exception {
        StringBuilder printed = new StringBuilder();
        Thread thread = Thread.currentThread();
        ClassLoader usual = thread.getContextClassLoader();
        try {
            for (MatchResult block : COMMANDS.matcher(text).results().toList()) {
                for (String line : block.group(1).lines().toList()) {
                    run(quick.apply(words(line)))
                            .lines()
                            .filter(shown -> !shown.isBlank())
                            .forEach(shown -> printed.append(shown.stripTrailing()).append('\n'));
                }
            }
        } finally {
            thread.setContextClassLoader(usual);
        }
        for (String output : outputs()) {
            assertTrue(
                    printed.toString().contains(output), () -> output + "expected in " + printed);
        }
        return printed.toString();
    }

    /** Returns the words of a command; paths are in the folder. */
    private List<String> words(String line) {
        return WORD.matcher(line)
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .map(word -> isPath(word) ? folder.resolve(word).toString() : word)
                .toList();
    }

    private boolean isPath(String word) {
        boolean named =
                word.contains("/") && !word.startsWith("./") && !word.startsWith(CLASS_PATH);
        return named || word.equals("found") || Files.exists(folder.resolve(word));
    }

    /** Runs a command and returns what it prints. */
    String run(List<String> words) throws Exception {
        List<String> arguments = words.subList(1, words.size());
        return switch (words.get(0)) {
            case "./saccade" -> command(arguments);
            case "javac" -> compile(arguments);
            case "java" -> program(arguments);
            case "cp" -> copy(arguments);
            case "export" -> extendClassPath(arguments.get(0));
            default -> throw new AssertionError("no command: " + words);
        };
    }

    private static String command(List<String> arguments) {
        CommandResult ended = saccade(arguments.toArray());
        assertEquals(0, ended.code(), arguments + ": " + ended.err());
        return ended.out() + ended.err();
    }

    private static String copy(List<String> files) throws IOException {
        Files.copy(Path.of(files.get(0)), Path.of(files.get(1)));
        return "";
    }

    private String extendClassPath(String setting) throws IOException {
        String key = "SACCADE_CLASS_PATH=";
        assertTrue(setting.startsWith(key), setting);
        Thread.currentThread().setContextClassLoader(loader(setting.substring(key.length())));
        return "";
    }

    /** Compiles a file of the page with the class path of this test. */
    private static String compile(List<String> arguments) {
        assertEquals(List.of("-cp", CLASS_PATH), arguments.subList(0, 2));
        String[] line =
                Stream.concat(
                                Stream.of("-cp", System.getProperty("java.class.path")),
                                Stream.concat(
                                        // Manifests of libraries name missing jars.
                                        Stream.of("-Xlint:all,-path", "-Werror", "-proc:none"),
                                        arguments.stream().skip(2)))
                        .toArray(String[]::new);
        int code = ToolProvider.getSystemJavaCompiler().run(null, null, null, line);
        assertEquals(0, code, "the page does not compile: " + arguments);
        return "";
    }

    /** Runs a program of the page and returns what it prints. */
    private String program(List<String> arguments) throws Exception {
        assertEquals("-cp", arguments.get(0));
        String classPath = arguments.get(1);
        assertTrue(classPath.startsWith(CLASS_PATH + ":"), classPath);
        try (URLClassLoader loader = loader(classPath.substring(CLASS_PATH.length() + 1))) {
            return main(loader, arguments.get(2), arguments.subList(3, arguments.size()));
        }
    }

    /** Runs the main method of a class and returns what it prints. */
    private static String main(ClassLoader loader, String name, List<String> arguments)
            throws Exception {
        PrintStream usual = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
            Object args = arguments.toArray(String[]::new);
            loader.loadClass(name).getMethod("main", String[].class).invoke(null, args);
        } finally {
            System.setOut(usual);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private URLClassLoader loader(String name) throws IOException {
        URL classes = folder.resolve(name).toUri().toURL();
        return new URLClassLoader(new URL[] {classes}, getClass().getClassLoader());
    }
}
