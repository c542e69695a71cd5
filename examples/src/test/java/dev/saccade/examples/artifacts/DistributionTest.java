package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

/** Runs the command from a folder laid out like the distribution, without Maven. */
@EnabledIf(
        value = "dev.saccade.examples.artifacts.Built#areJars",
        disabledReason = "modules are folders of classes here; mvn verify makes jars of them")
class DistributionTest {

    private static final Path HOME = Path.of("..");

    @TempDir Path folder;

    @Test
    void commandRunsFromAnotherFolder() throws Exception {
        Path home = Files.createDirectory(folder.resolve("saccade-" + Built.VERSION));
        Path command = Files.copy(HOME.resolve("saccade"), home.resolve("saccade"));
        assertTrue(command.toFile().setExecutable(true));
        Path lib = Built.jar("cli").orElseThrow().toAbsolutePath().getParent();
        Files.createSymbolicLink(home.resolve("lib"), lib.toRealPath());
        Files.createSymbolicLink(home.resolve("configs"), HOME.resolve("configs").toRealPath());
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        SmallDetector.in(elsewhere);

        String output = Built.run(Built.command(elsewhere, command.toString(), "env"));
        assertTrue(output.contains("libtorch"), output);
        Built.run(
                Built.command(
                        elsewhere,
                        command.toString(),
                        "predict",
                        "detector.safetensors",
                        "photo.jpg",
                        "--score",
                        "0.005",
                        "--out",
                        "found"));
        try (var files = Files.walk(elsewhere.resolve("found"))) {
            assertTrue(files.filter(Files::isRegularFile).count() > 0, "nothing is written");
        }
    }
}
