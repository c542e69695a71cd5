package dev.saccade.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/** What a command printed and how it ended. */
public record Ended(int code, String out, String err) {

    /** Runs a command as the shell would. */
    public static Ended saccade(Object... arguments) {
        String[] args = Stream.of(arguments).map(Object::toString).toArray(String[]::new);
        return of(() -> Saccade.run(args));
    }

    /** Prepares a command that runs in a process of its own. */
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

    /** Runs something that prints and returns an exit code. */
    static Ended of(IntSupplier command) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
        ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(outBytes, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errBytes, true, StandardCharsets.UTF_8));
        try {
            int code = command.getAsInt();
            return new Ended(
                    code,
                    outBytes.toString(StandardCharsets.UTF_8),
                    errBytes.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
