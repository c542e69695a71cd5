package dev.saccade.datasets.classification;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.datasets.image.ImageFiles;

import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes a tar archive. */
final class Shards {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes, "UTF-8");

    Shards() {
        tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
    }

    Shards add(String name, byte[] content) {
        try {
            TarArchiveEntry entry = new TarArchiveEntry(name, /* preserveAbsolutePath= */ true);
            entry.setSize(content.length);
            tar.putArchiveEntry(entry);
            tar.write(content);
            tar.closeArchiveEntry();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Shards text(String name, String content) {
        return add(name, content.getBytes(UTF_8));
    }

    Shards image(String name, int width, int height) {
        return add(name, ImageFiles.jpeg(width, height));
    }

    Shards link(String name, String target) {
        try {
            TarArchiveEntry entry = new TarArchiveEntry(name, TarConstants.LF_SYMLINK);
            entry.setLinkName(target);
            tar.putArchiveEntry(entry);
            tar.closeArchiveEntry();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    byte[] bytes() {
        try {
            tar.close();
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path write(Path file) {
        try {
            return Files.write(file, bytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
