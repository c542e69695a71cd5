package dev.saccade.cli.sbom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.Checkpoints;

import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.cyclonedx.Version;
import org.cyclonedx.model.Bom;
import org.cyclonedx.model.Component;
import org.cyclonedx.model.Hash;
import org.cyclonedx.parsers.JsonParser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipFile;

/** Compares the distribution with its SBOM, after the build has packaged both. */
class DistributionIT {

    private static final Path DISTRIBUTION = Path.of("target", "saccade");
    private static final Path SBOM = DISTRIBUTION.resolve(DistributionSbom.SBOM);

    /** File names of native libraries, which the SBOM finds by their content instead. */
    private static final String NATIVE = ".*\\.(so(\\.\\d+)*|dll|dylib|jnilib)";

    private static Bom bom;
    private static Map<String, Component> components;

    @BeforeAll
    static void read() throws Exception {
        bom = new JsonParser().parse(SBOM.toFile());
        components = new TreeMap<>();
        for (Component each : bom.getComponents()) {
            String classifier =
                    each.getPurl().contains("classifier=")
                            ? "-" + each.getPurl().replaceAll(".*classifier=([^&]*).*", "$1")
                            : "";
            components.put(each.getName() + "-" + each.getVersion() + classifier + ".jar", each);
        }
    }

    @Test
    void isValidAndReproducible() throws Exception {
        assertEquals(List.of(), new JsonParser().validate(SBOM.toFile(), Version.VERSION_16));
        String text = Files.readString(SBOM);
        assertFalse(text.contains("serialNumber") || text.contains("timestamp"), "not constant");
        assertEquals("saccade", bom.getMetadata().getComponent().getName());
    }

    @Test
    void coversEachJar() throws IOException {
        assertEquals(jars().keySet(), components.keySet());
        for (Map.Entry<String, Path> jar : jars().entrySet()) {
            Component component = components.get(jar.getKey());
            // Hashing the large jars takes long in this JVM.
            if (Files.size(jar.getValue()) < 10_000_000) {
                assertEquals(Checkpoints.checksum(jar.getValue()), sha256(component), jar.getKey());
            }
            assertFalse(component.getLicenses().getLicenses().isEmpty(), jar.getKey());
        }
    }

    @Test
    void coversEachNativeLibrary() throws IOException {
        Set<String> expected = new TreeSet<>();
        for (Map.Entry<String, Path> jar : jars().entrySet()) {
            try (ZipFile zip = new ZipFile(jar.getValue().toFile())) {
                zip.stream()
                        .filter(entry -> entry.getName().matches(NATIVE))
                        .forEach(entry -> expected.add(jar.getKey() + "!" + entry.getName()));
            }
        }
        Set<String> found = new TreeSet<>();
        components.forEach(
                (jar, component) -> {
                    for (Component library :
                            Optional.ofNullable(component.getComponents()).orElse(List.of())) {
                        found.add(jar + "!" + library.getProperties().get(0).getValue());
                        assertNotNull(sha256(library));
                        assertFalse(library.getLicenses().getLicenses().isEmpty());
                    }
                });
        // The content also reveals programs, which have no suffix.
        Set<String> missing = new TreeSet<>(expected);
        missing.removeAll(found);
        assertEquals(Set.of(), missing);
        assertTrue(found.stream().anyMatch(name -> name.contains("libtorch_cpu")));
        assertTrue(found.stream().anyMatch(name -> name.contains("libsaccade")));
        assertTrue(found.stream().anyMatch(name -> name.contains("opencv_java")));
    }

    /** The release profile packs the archive. */
    @Test
    void isPartOfTheArchive() throws IOException {
        List<Path> archives;
        try (Stream<Path> files = Files.list(Path.of("target"))) {
            archives = files.filter(file -> file.toString().endsWith(".tar.gz")).toList();
        }
        for (Path archive : archives) {
            Set<String> packed = new TreeSet<>();
            try (TarArchiveInputStream tar =
                    new TarArchiveInputStream(new GZIPInputStream(Files.newInputStream(archive)))) {
                for (TarArchiveEntry entry = tar.getNextEntry();
                        entry != null;
                        entry = tar.getNextEntry()) {
                    packed.add(entry.getName().replaceFirst("^[^/]*/", ""));
                }
            }
            assertTrue(packed.contains(DistributionSbom.SBOM), archive.toString());
            assertTrue(packed.contains(DistributionSbom.THIRD_PARTY), archive.toString());
            assertEquals(
                    components.keySet(),
                    packed.stream()
                            .filter(name -> name.matches("lib/.+"))
                            .map(name -> name.substring("lib/".length()))
                            .collect(Collectors.toCollection(TreeSet::new)));
        }
    }

    private static String sha256(Component component) {
        return component.getHashes().stream()
                .filter(hash -> hash.getAlgorithm().equals(Hash.Algorithm.SHA_256.getSpec()))
                .map(Hash::getValue)
                .findFirst()
                .orElse(null);
    }

    private static Map<String, Path> jars() throws IOException {
        try (Stream<Path> files = Files.list(DISTRIBUTION.resolve("lib"))) {
            return files.collect(
                    Collectors.toMap(
                            file -> file.getFileName().toString(),
                            file -> file,
                            (a, b) -> a,
                            TreeMap::new));
        }
    }
}
