package dev.saccade.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

class LibraryTest {

    private static final Path NATIVE = Path.of("src/main/native");

    private static final int WIDTH = 100;

    /** Offset of the machine field in the ELF header, and its values. */
    private static final int MACHINE = 18;

    private static final Map<String, Integer> MACHINES =
            Map.of("linux-x86_64", 62, "linux-aarch64", 183);

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> found = files.filter(Files::isRegularFile).sorted().toList();
            assertFalse(found.isEmpty(), folder.toString());
            return found;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"linux-x86_64", "linux-aarch64"})
    void isBuiltFromTheseSources(String platform) throws IOException, NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(Files.readAllBytes(Path.of("build.sh")));
        for (Path source : files(NATIVE)) {
            digest.update(Files.readAllBytes(source));
        }
        Path built = Path.of("src/main/resources/native", platform, "libsaccade.sources");
        assertEquals(
                HexFormat.of().formatHex(digest.digest()),
                Files.readString(built).strip(),
                "the library is older than its sources: run kernels/build.sh " + platform);
        byte[] start = Arrays.copyOf(Files.readAllBytes(built.resolveSibling("libsaccade.so")), 20);
        assertEquals(MACHINES.get(platform), start[MACHINE] & 0xFF, "the machine it is made for");
    }

    @ParameterizedTest
    @ValueSource(strings = {"linux-x86_64", "linux-aarch64"})
    void namesItsLibtorch(String platform) throws IOException {
        Path version = Path.of("src/main/resources/native", platform, "libsaccade.libtorch");
        assertTrue(
                Files.readAllLines(Path.of("build.sh"))
                        .contains("VERSION=" + Files.readString(version).strip()),
                version.toString());
    }

    @Test
    void sourcesHaveAtMost100Columns() throws IOException {
        List<String> wider = new ArrayList<>();
        for (Path folder : List.of(NATIVE, Path.of("src/test/cpp"))) {
            for (Path source : files(folder)) {
                List<String> lines = Files.readAllLines(source);
                for (int i = 0; i < lines.size(); i++) {
                    if (lines.get(i).length() > WIDTH) {
                        wider.add(source + ":" + (i + 1));
                    }
                }
            }
        }
        assertEquals(List.of(), wider, "run clang-format -i on these, which reads .clang-format");
    }

    @Test
    void everyGpuOperatorHasPythonCases() throws IOException {
        List<String> missing = new ArrayList<>();
        for (Path launcher : files(NATIVE)) {
            String operator = launcher.getParent().getFileName().toString();
            if (launcher.toString().endsWith("_cuda.cpp")
                    && !Files.exists(Path.of("src/test/python", operator + ".py"))) {
                missing.add("src/test/python/" + operator + ".py");
            }
        }
        assertEquals(List.of(), missing, "cases of operators that run on GPUs");
    }
}
