package dev.saccade.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

class LibraryTest {

    @Test
    void isBuiltFromTheSourcesBesideIt() throws IOException, NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(Files.readAllBytes(Path.of("build.sh")));
        for (String folder : List.of("src/main/cpp", "src/main/cuda")) {
            List<Path> sources;
            try (Stream<Path> files = Files.list(Path.of(folder))) {
                sources = files.sorted().toList();
            }
            for (Path source : sources) {
                digest.update(Files.readAllBytes(source));
            }
        }
        Path built = Path.of("src/main/resources/native/linux-x86_64/libsaccade.sources");
        assertEquals(
                HexFormat.of().formatHex(digest.digest()),
                Files.readString(built).strip(),
                "the library is older than its sources: run kernels/build.sh");
    }
}
