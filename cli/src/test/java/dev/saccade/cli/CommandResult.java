package dev.saccade.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/** Output and exit code of a command. */
public record CommandResult(int code, String out, String err) {

    /** Runs a command like a shell. */
    public static CommandResult saccade(Object... arguments) {
        String[] args = Stream.of(arguments).map(Object::toString).toArray(String[]::new);
        return of(() -> Saccade.run(args));
    }

    /** Prepares a command to run in its own process. */
    public static ProcessBuilder process(Object... arguments) {
        List<String> line =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Dai.djl.offline=true",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Saccade.class.getName()));
        Stream.of(arguments).map(Object::toString).forEach(line::add);
        return new ProcessBuilder(line);
    }

    /** Runs code that prints and returns an exit code. */
    static CommandResult of(IntSupplier command) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
        ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(outBytes, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errBytes, true, StandardCharsets.UTF_8));
        try {
            int code = command.getAsInt();
            return new CommandResult(
                    code,
                    outBytes.toString(StandardCharsets.UTF_8),
                    errBytes.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
