package dev.saccade.config;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Saccade's own configs: from the checkout in the system property {@code saccade.home} if set, else
 * from the jar.
 */
final class BundledConfigs {

    private static final String PACKAGED = "dev/saccade/configs/";

    private BundledConfigs() {}

    /** Returns {@code configs/} of the checkout, if known. */
    static Optional<Path> folder() {
        return Optional.ofNullable(System.getProperty("saccade.home"))
                .map(home -> Path.of(home, "configs"))
                .filter(Files::isDirectory);
    }

    /**
     * Returns the normalized path of a config, relative to {@code configs/}.
     *
     * @throws SaccadeException of kind user if it is outside of {@code configs/}
     */
    static Path inside(String name) {
        try {
            Path path = Path.of(name).normalize();
            if (!path.isAbsolute() && !path.startsWith("..")) {
                return path;
            }
        } catch (InvalidPathException e) {
            // Reported below.
        }
        throw SaccadeException.user(
                "%s: expected a path below configs/, such as _base_/runtime.yaml", name);
    }

    /**
     * Opens a config in the jar.
     *
     * @throws NoSuchFileException if it does not exist
     */
    static InputStream resource(Path name) throws IOException {
        String path = name.toString().replace(name.getFileSystem().getSeparator(), "/");
        // Not Class.getResourceAsStream: the configs are in another Java module.
        InputStream content =
                BundledConfigs.class.getClassLoader().getResourceAsStream(PACKAGED + path);
        if (content == null) {
            throw new NoSuchFileException(path);
        }
        return content;
    }
}
