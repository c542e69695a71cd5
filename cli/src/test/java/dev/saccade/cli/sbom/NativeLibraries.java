package dev.saccade.cli.sbom;

import com.google.common.hash.Hashing;
import com.google.common.io.ByteSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Finds native libraries in jars by their content: ELF, Mach-O, PE and AIX archives. */
final class NativeLibraries {

    /** First bytes; {@code cafebabe} is Mach-O for several processors, and also a Java class. */
    private static final List<String> MAGIC =
            List.of(
                    "7f454c46",
                    "4d5a",
                    "feedface",
                    "feedfacf",
                    "cefaedfe",
                    "cffaedfe",
                    "cafebabe",
                    "3c626967");

    private NativeLibraries() {}

    /** Returns the SHA-256 of each native library by its path in the jar. */
    static Map<String, String> checksums(Path jar) throws IOException {
        Map<String, String> checksums = new TreeMap<>();
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
                ZipEntry entry = all.nextElement();
                if (isNative(zip, entry)) {
                    ByteSource content =
                            new ByteSource() {
                                @Override
                                public InputStream openStream() throws IOException {
                                    return zip.getInputStream(entry);
                                }
                            };
                    checksums.put(entry.getName(), content.hash(Hashing.sha256()).toString());
                }
            }
        }
        return checksums;
    }

    private static boolean isNative(ZipFile zip, ZipEntry entry) throws IOException {
        if (entry.isDirectory() || entry.getName().endsWith(".class")) {
            return false;
        }
        try (InputStream in = zip.getInputStream(entry)) {
            String start = HexFormat.of().formatHex(in.readNBytes(4));
            return MAGIC.stream().anyMatch(start::startsWith);
        }
    }
}
