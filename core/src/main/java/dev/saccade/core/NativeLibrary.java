package dev.saccade.core;

import ai.djl.util.Utils;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.jar.JarEntry;

/** Libraries of machine code that travel in jars. */
public final class NativeLibrary {

    private NativeLibrary() {}

    /**
     * Returns the file of a library. One that is in a jar is extracted into DJL's cache, once for
     * all programs: files of other content have other paths.
     *
     * @param resource where the class path has it
     * @throws IOException if it cannot be read or extracted; names the file
     */
    public static Path file(URL resource) throws IOException {
        if (resource.openConnection() instanceof JarURLConnection jar) {
            JarEntry entry = jar.getJarEntry();
            Path file =
                    Utils.getEngineCacheDir("saccade")
                            .resolve(HexFormat.of().toHexDigits((int) entry.getCrc()))
                            .resolve(Path.of(entry.getName()).getFileName());
            if (!Files.exists(file)) {
                extract(resource, file);
            }
            return file.toAbsolutePath();
        }
        return Path.of(URI.create(resource.toString()));
    }

    private static void extract(URL resource, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Path part = Files.createTempFile(file.getParent(), "", ".part");
        try (InputStream content = resource.openStream()) {
            Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
            Utils.moveQuietly(part, file);
        } finally {
            Files.deleteIfExists(part);
        }
    }
}
