package dev.saccade.core;

import ai.djl.util.Utils;

import com.google.common.base.Splitter;
import com.google.common.collect.Iterables;
import com.google.common.io.ByteStreams;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;

/** Extracts native libraries from jars and linked runtimes. */
public final class NativeLibrary {

    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rwx------");

    private static final Set<PosixFilePermission> OTHERS_CAN_WRITE =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    /** A path that the user of this process owns, on Linux. */
    private static final Path OWN = Path.of("/proc/self");

    private NativeLibrary() {}

    /** Size and CRC-32 of a library. */
    private record Checksum(long size, long crc) {

        static Checksum of(InputStream content) throws IOException {
            CRC32 crc = new CRC32();
            return new Checksum(
                    ByteStreams.exhaust(new CheckedInputStream(content, crc)), crc.getValue());
        }

        static Checksum of(URL resource) throws IOException {
            if (resource.openConnection() instanceof JarURLConnection jar) {
                JarEntry entry = jar.getJarEntry();
                return new Checksum(entry.getSize(), entry.getCrc());
            }
            try (InputStream content = resource.openStream()) {
                return of(content);
            }
        }

        boolean matches(Path file) throws IOException {
            if (!Files.isRegularFile(file) || Files.size(file) != size) {
                return false;
            }
            try (InputStream content = Files.newInputStream(file)) {
                return of(content).equals(this);
            }
        }
    }

    /**
     * Returns the file of a library. A library in a jar or a linked runtime is extracted to DJL's
     * cache, to a path with a checksum of the content, unless an undamaged file exists there.
     *
     * @param resource location on the class path
     * @throws SaccadeException of kind I/O if the file cannot be read or extracted; of kind user if
     *     other users may write to the cache
     */
    public static Path file(URL resource) {
        try {
            return resource.getProtocol().equals("file")
                    ? Path.of(URI.create(resource.toString()))
                    : extracted(resource, Checksum.of(resource));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", resource, e.getMessage());
        }
    }

    private static Path extracted(URL resource, Checksum expected) {
        Path cache = Utils.getEngineCacheDir("saccade").toAbsolutePath();
        Path folder = cache.resolve(HexFormat.of().toHexDigits((int) expected.crc()));
        Path file = folder.resolve(Iterables.getLast(Splitter.on('/').split(resource.getPath())));
        try {
            makePrivate(cache);
            makePrivate(folder);
            if (!expected.matches(file)) {
                extract(resource, expected, file);
            }
            return file;
        } catch (IOException e) {
            throw SaccadeException.io(
                    e,
                    "%s: native libraries cannot be unpacked to this folder: %s; set DJL_CACHE_DIR to"
                            + " a writable folder",
                    cache,
                    e);
        }
    }

    private static boolean isPosix(Path folder) {
        return folder.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    /** Creates a folder that only this user can write, or checks an existing one. */
    private static void makePrivate(Path folder) throws IOException {
        if (isPosix(folder)) {
            Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        } else {
            Files.createDirectories(folder);
        }
        requirePrivate(folder);
    }

    /** Ensures that only this user or root can write to a folder; else throws a user error. */
    static void requirePrivate(Path folder) throws IOException {
        if (!isPosix(folder)) {
            return;
        }
        PosixFileAttributes found = Files.readAttributes(folder, PosixFileAttributes.class);
        UserPrincipal owner = found.owner();
        boolean isOwn = !Files.exists(OWN) || owner.equals(Files.getOwner(OWN));
        boolean isOpen = !Collections.disjoint(found.permissions(), OTHERS_CAN_WRITE);
        if (isOpen && isOwn) {
            Files.setPosixFilePermissions(folder, OWNER_ONLY);
        } else if (isOpen || !(isOwn || owner.getName().equals("root"))) {
            throw SaccadeException.user(
                    "%s: owned by %s with permissions %s, so other users could replace native"
                            + " libraries; set DJL_CACHE_DIR to a folder that only you can write",
                    folder, owner.getName(), PosixFilePermissions.toString(found.permissions()));
        }
    }

    private static void extract(URL resource, Checksum expected, Path file) throws IOException {
        Path part = Files.createTempFile(file.getParent(), "", ".part");
        try (InputStream content = resource.openStream()) {
            Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
            if (!expected.matches(part)) {
                throw new IOException(resource + " is damaged");
            }
            Utils.moveQuietly(part, file);
        } finally {
            Files.deleteIfExists(part);
        }
    }
}
