package dev.saccade.datasets.convert;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes files where they belong at once. */
record PlainFolder(Path folder) implements ConvertedFolder {

    @Override
    public OutputStream create(String name) {
        return new ByteArrayOutputStream() {
            @Override
            public void close() throws IOException {
                Path file = folder.resolve(name);
                Files.createDirectories(file.getParent());
                Files.write(file, toByteArray());
            }
        };
    }

    @Override
    public void take(String name, Path file) {
        try {
            Path place = folder.resolve(name);
            Files.createDirectories(place.getParent());
            Files.copy(file, place);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
