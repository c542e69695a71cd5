package dev.saccade.datasets.convert.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.saccade.datasets.Finding;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What of a folder is listed, and what is told of the rest. */
class SourceFolderTest {

    @TempDir private Path folder;
    private Path inside;
    private Path outside;
    private final List<String> told = new ArrayList<>();

    @BeforeEach
    void write() throws IOException {
        inside = Files.createDirectories(folder.resolve("inside/images")).getParent();
        outside = Files.createDirectory(folder.resolve("outside"));
        Files.createFile(inside.resolve("images/a.png"));
        Files.createFile(outside.resolve("b.png"));
    }

    private List<String> list(Path root) {
        return SourceFolder.list(root, this::tell).files();
    }

    private void tell(Finding finding) {
        told.add(finding.severity() + " " + finding.toString().replace(folder.toString(), ""));
    }

    @Test
    void theFolderItselfMayBeALink() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), inside);
        Files.createSymbolicLink(inside.resolve("same"), Path.of("images"));
        Files.createSymbolicLink(inside.resolve("nothing.png"), Path.of("nowhere"));
        assertEquals(List.of("images/a.png", "nothing.png", "same/a.png"), list(link));
        assertEquals(List.of(), told);
    }

    @Test
    void noLinkLeadsOutOfIt() throws IOException {
        Files.createSymbolicLink(inside.resolve("more"), outside);
        Files.createSymbolicLink(inside.resolve("b.png"), Path.of("../outside/b.png"));
        assertEquals(List.of("images/a.png"), list(inside));
        assertEquals(
                List.of(
                        "ERROR /inside/b.png: links to /outside/b.png outside of the folder;"
                                + " replace the link with a copy (cp -rL)",
                        "ERROR /inside/more: links to /outside outside of the folder; replace the"
                                + " link with a copy (cp -rL)"),
                told.stream().sorted().toList());
    }

    @Test
    void reportsInvalidNames() throws IOException {
        Files.createFile(inside.resolve("a\nb.png"));
        Files.createFile(inside.resolve("Icon\r"));
        assertEquals(List.of("images/a.png"), list(inside));
        assertEquals(
                List.of(
                        "ERROR /inside/a\\nb.png: file name contains control characters or is not"
                                + " valid text; rename the file",
                        "WARNING /inside/Icon\\r: file name contains control characters or is not"
                                + " valid text; rename the file"),
                told.stream().sorted().toList());
    }

    /** Java cannot write such a name, a shell can. */
    @Test
    void reportsNamesThatAreNotUtf8() throws IOException, InterruptedException {
        Process shell =
                new ProcessBuilder("sh", "-c", "touch \"$(printf 'c\\351.png')\"")
                        .directory(inside.toFile())
                        .start();
        assumeTrue(shell.waitFor() == 0, "a file system of UTF-8 alone");
        assertEquals(List.of("images/a.png"), list(inside));
        assertEquals(1, told.size(), told.toString());
    }
}
