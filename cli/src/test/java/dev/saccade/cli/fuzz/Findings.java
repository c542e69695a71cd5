package dev.saccade.cli.fuzz;

import com.google.common.base.Throwables;
import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder of inputs that Saccade failed on, the shortest of each kind, and beside each of them a
 * text that says what happened and from which seed it came.
 *
 * @param folder the folder
 */
record Findings(Path folder) {

    private static final String TEXT = ".txt";

    /** Where exceptions are made that tell of something elsewhere. */
    private static final List<String> MAKERS = List.of("SaccadeException.java", "Problems.java");

    /** Returns the name of all failures at one place. */
    static String kind(FuzzTarget target, Throwable failure) {
        Throwable thrown = failure.getCause() instanceof SaccadeException cause ? cause : failure;
        String place =
                Arrays.stream(thrown.getStackTrace())
                        .filter(frame -> frame.getClassName().startsWith("dev.saccade."))
                        .filter(frame -> !MAKERS.contains(frame.getFileName()))
                        .findFirst()
                        .map(frame -> "-" + frame.getFileName() + "-" + frame.getLineNumber())
                        .orElse("");
        return target.name() + "-" + failure.getClass().getSimpleName() + place;
    }

    /** Returns whether there is one of a kind. */
    boolean has(String kind) {
        return Files.exists(folder.resolve(kind));
    }

    /** Keeps an input, unless a shorter one of its kind is there. */
    void add(FuzzTarget target, long seed, long number, byte[] input, Throwable failure) {
        try {
            Files.createDirectories(folder);
            Path file = folder.resolve(kind(target, failure));
            if (Files.exists(file) && Files.size(file) <= input.length) {
                return;
            }
            Files.write(file, input);
            // Not by writeString, which refuses the halves of characters that inputs are full of.
            Files.write(
                    file.resolveSibling(file.getFileName() + TEXT),
                    Texts.bytes(
                            Text.format(
                                    "target %s, seed %d, input %d, replayed by -Dsaccade.fuzz.replay=%s%n%s",
                                    target.name(),
                                    seed,
                                    number,
                                    file.toAbsolutePath(),
                                    Throwables.getStackTraceAsString(failure))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes what another run has left. */
    void clear() throws IOException {
        if (Files.exists(folder)) {
            MoreFiles.deleteDirectoryContents(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    /** Returns the texts about a target. */
    List<String> of(String target) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith(target + "-"))
                    .filter(file -> file.toString().endsWith(TEXT))
                    .sorted()
                    .map(Findings::read)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
