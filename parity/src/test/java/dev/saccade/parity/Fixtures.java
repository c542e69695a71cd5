package dev.saccade.parity;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Location of the recorded cases. */
final class Fixtures {

    private Fixtures() {}

    /**
     * Returns the requested folder, or the one next to the repository, or the copies in the
     * resources.
     */
    static Path root() throws URISyntaxException {
        String asked = System.getProperty("saccade.fixtures", "");
        if (!asked.isEmpty()) {
            // Relative to the directory where Maven started, not to the test's working directory.
            return Path.of(System.getProperty("saccade.fixtures.from", "")).resolve(asked);
        }
        Path beside = Path.of(System.getProperty("saccade.fixtures.beside", ""));
        return !beside.toString().isEmpty() && Files.isDirectory(beside)
                ? beside
                : Path.of(Fixtures.class.getResource("/fixtures").toURI());
    }

    /** Returns all folders at and below a root with a {@code case.json}, sorted by name. */
    static List<Path> cases(Path root) throws IOException {
        if (!Files.isDirectory(root)) {
            throw new AssertionError("no such folder of recorded cases: " + root);
        }
        try (Stream<Path> files = Files.walk(root)) {
            List<Path> cases =
                    files.filter(file -> file.endsWith("case.json"))
                            .map(Path::getParent)
                            .sorted()
                            .toList();
            if (cases.isEmpty()) {
                throw new AssertionError("no case.json at or below " + root);
            }
            return cases;
        }
    }

    /** Returns the name of a case: its path relative to the root. */
    static String name(Path root, Path folder) {
        Path path =
                folder.equals(root)
                        ? folder.toAbsolutePath().getFileName()
                        : root.relativize(folder);
        return path.toString().replace('\\', '/');
    }
}
