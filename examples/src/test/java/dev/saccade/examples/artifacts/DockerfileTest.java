package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Splitter;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.security.Security;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the {@code Dockerfile} with the jars of its images; builds no image. */
class DockerfileTest {

    private static String dockerfile;

    @BeforeAll
    static void read() throws IOException {
        dockerfile = Files.readString(Path.of("..", "Dockerfile"));
    }

    private static String find(String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(dockerfile);
        assertTrue(found.find(), pattern);
        return found.group(1);
    }

    @ParameterizedTest
    @CsvSource({"pytorch-native-cpu, libtorch_cpu.so", "opencv, linux/ARMv8/libopencv"})
    void extractedNativesExist(String artifact, String library) throws IOException {
        String taken = find("zip -qd \\S*" + artifact + "-\\*\\.jar '([^']+)'");
        PathMatcher matcher =
                FileSystems.getDefault().getPathMatcher("glob:" + taken.replace("*", "**"));
        Path jar =
                Splitter.on(File.pathSeparatorChar)
                        .splitToStream(System.getProperty("java.class.path"))
                        .map(Path::of)
                        .filter(entry -> entry.getFileName().toString().startsWith(artifact + "-"))
                        .findFirst()
                        .orElseThrow();
        try (JarFile entries = new JarFile(jar.toFile())) {
            assertTrue(
                    entries.stream()
                            .filter(entry -> entry.getName().contains(library))
                            .anyMatch(entry -> matcher.matches(Path.of(entry.getName()))),
                    taken + " has no " + library);
        }
    }

    /** No class refers to the module with the elliptic curves of most servers. */
    @Test
    void imageJavaSupportsHttps() {
        List<String> modules = Splitter.on(',').splitToList(find("--add-modules (\\S+)"));
        String curves = Security.getProvider("SunEC").getClass().getModule().getName();
        assertTrue(modules.contains(curves), curves);
    }

    /** The JDK image has Java in {@code /opt/java}. */
    @Test
    void imageJavaHasOwnFolder() {
        String folder = find("--output (\\S+)");
        assertFalse(folder.equals("/opt/java"), folder);
        assertTrue(dockerfile.contains("COPY --from=build " + folder + " " + folder));
        assertTrue(dockerfile.contains("ENV PATH=/opt/saccade:" + folder + "/bin:"));
    }
}
