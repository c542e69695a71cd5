package dev.saccade.examples.artifacts;

import com.google.common.base.Splitter;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Artifacts of the build, and how tests run them. */
final class Built {

    static final String VERSION = Pom.of(Path.of("..")).text("/project/version");

    private Built() {}

    /** Returns whether modules are jars, as in {@code mvn verify}, instead of class folders. */
    static boolean areJars() {
        return jar("models").isPresent();
    }

    /** Returns the jar of a module on the class path. */
    static Optional<Path> jar(String module) {
        String name = "saccade-" + module + "-" + VERSION + ".jar";
        return Splitter.on(File.pathSeparatorChar)
                .splitToStream(System.getProperty("java.class.path"))
                .map(Path::of)
                .filter(entry -> entry.endsWith(name))
                .findFirst();
    }

    /** Prepares a command that runs with the Java of this test. */
    static ProcessBuilder command(Path folder, String... words) {
        ProcessBuilder command = new ProcessBuilder(words).directory(folder.toFile());
        Map<String, String> environment = command.environment();
        String java = System.getProperty("java.home");
        environment.put("JAVA_HOME", java);
        environment.put("PATH", java + "/bin" + File.pathSeparator + environment.get("PATH"));
        environment.put("OMP_NUM_THREADS", "1");
        return command;
    }

    /** Runs a program that must succeed; returns its output. */
    static String run(ProcessBuilder command) throws IOException, InterruptedException {
        Path errors = Files.createTempFile(command.directory().toPath(), "errors", ".txt");
        Process process = command.redirectError(errors.toFile()).start();
        String printed =
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = process.waitFor();
        if (code != 0) {
            throw new AssertionError(
                    command.command()
                            + " ended with "
                            + code
                            + "\n"
                            + printed
                            + Files.readString(errors));
        }
        return printed;
    }
}
