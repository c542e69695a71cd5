package dev.saccade.examples.artifacts;

import com.google.common.base.Splitter;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What the build has made before these tests, and how they run it. */
final class Built {

    static final String VERSION = Pom.of(Path.of("..")).text("/project/version");

    private Built() {}

    /** Returns whether modules are jars here, as in {@code mvn verify}, not folders of classes. */
    static boolean areJars() {
        return jar("models").isPresent();
    }

    /** Returns the jar of a module of Saccade that is on the class path of this test. */
    static Optional<Path> jar(String module) {
        String name = "saccade-" + module + "-" + VERSION + ".jar";
        return Splitter.on(File.pathSeparatorChar)
                .splitToStream(System.getProperty("java.class.path"))
                .map(Path::of)
                .filter(entry -> entry.endsWith(name))
                .findFirst();
    }

    /** Returns a program of the Java that runs this test. */
    static String java(String program) {
        return Path.of(System.getProperty("java.home"), "bin", program).toString();
    }

    /** Runs a program to its end, which must be a good one, and returns what it prints. */
    static String run(Path folder, List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().put("OMP_NUM_THREADS", "1");
        Path errors = Files.createTempFile(folder, "errors", ".txt");
        Process process = builder.redirectError(errors.toFile()).start();
        String printed =
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = process.waitFor();
        if (code != 0) {
            throw new AssertionError(
                    command + " ended with " + code + "\n" + printed + Files.readString(errors));
        }
        return printed;
    }
}
