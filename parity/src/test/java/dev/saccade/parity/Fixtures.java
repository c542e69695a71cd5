package dev.saccade.parity;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Where the recorded numbers lie. */
final class Fixtures {

    private Fixtures() {}

    /**
     * Returns the folder that was asked for, else that which stands beside the repository, else the
     * copies among the resources of this module.
     */
    static Path root() throws URISyntaxException {
        String asked = System.getProperty("saccade.fixtures", "");
        if (!asked.isEmpty()) {
            // Relative to where Maven was started, which is not where tests run.
            return Path.of(System.getProperty("saccade.fixtures.from", "")).resolve(asked);
        }
        Path beside = Path.of(System.getProperty("saccade.fixtures.beside", ""));
        return !beside.toString().isEmpty() && Files.isDirectory(beside)
                ? beside
                : Path.of(Fixtures.class.getResource("/fixtures").toURI());
    }

    /** Returns all folders at and below a root that hold a {@code case.json}, in order of name. */
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

    /** Returns the name of a case: its folder, seen from the root. */
    static String name(Path root, Path folder) {
        Path path =
                folder.equals(root)
                        ? folder.toAbsolutePath().getFileName()
                        : root.relativize(folder);
        return path.toString().replace('\\', '/');
    }
}
