package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs the commands of {@code new_classes.md} with a small model. */
class NewClassesPageTest {

    @TempDir Path folder;

    @Test
    void thePageExtendsARun() throws Exception {
        TinyRun tiny = TinyRun.shared();
        Files.createSymbolicLink(
                Files.createDirectories(folder.resolve("runs")).resolve("tools"),
                tiny.run().toAbsolutePath());
        ExtendCommandTest.newData(tiny, folder.resolve("photos/wrenches"), "button", "wrench");
        PageRun.in(folder, "new_classes.md").run(this::quick);
        for (String file :
                List.of(
                        "labels/new.json",
                        "replay/annotations.json",
                        "checkpoints/best.safetensors",
                        "report.html",
                        "extension.json")) {
            assertTrue(Files.exists(folder.resolve("runs/tools_extended").resolve(file)), file);
        }
    }

    private List<String> quick(List<String> words) {
        List<String> quick = new ArrayList<>(words);
        if (words.get(1).equals("extend")) {
            quick.addAll(List.of("--epochs", "1", "--max-drop", "0.2"));
        }
        quick.replaceAll(
                word -> word.equals("browse_extended") ? folder.resolve(word).toString() : word);
        return quick;
    }
}
