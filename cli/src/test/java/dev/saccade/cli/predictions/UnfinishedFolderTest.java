package dev.saccade.cli.predictions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Whatever happens meanwhile, no photograph is lost, and a folder is the old one or the new. */
class UnfinishedFolderTest {

    private static final String COMMAND = "convert-data";

    @TempDir private Path folder;
    private Path source;
    private Path out;
    private Path work;

    @BeforeEach
    void write() throws IOException {
        source = Files.createDirectory(folder.resolve("source"));
        out = folder.resolve("out");
        work = folder.resolve("out.unfinished");
        Files.writeString(source.resolve("a.png"), "a");
        Files.writeString(source.resolve("b.png"), "b");
    }

    private UnfinishedFolder started(Path wanted) {
        return new UnfinishedFolder(wanted, source, COMMAND);
    }

    private void make(Path wanted, String labels) throws IOException {
        try (UnfinishedFolder made = started(wanted)) {
            fill(made, labels);
            made.finish();
        }
    }

    private void fill(UnfinishedFolder made, String labels) throws IOException {
        for (String name : names(source)) {
            made.take("images/" + name, source.resolve(name));
        }
        try (OutputStream stream = made.create("labels.json")) {
            stream.write(labels.getBytes(UTF_8));
        }
    }

    private String labels() throws IOException {
        return Files.readString(out.resolve("labels.json"));
    }

    private String refusal(Path wanted) {
        return assertThrows(SaccadeException.class, () -> make(wanted, "new")).getMessage();
    }

    private static Set<String> names(Path of) throws IOException {
        try (Stream<Path> content = Files.list(of)) {
            return content.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
        }
    }

    @Test
    void theNextTakesThePlaceOfThisOne() throws IOException {
        make(out, "old");
        Files.delete(source.resolve("b.png"));
        Files.createLink(folder.resolve("elsewhere.png"), out.resolve("images/b.png"));
        make(out, "new");
        assertEquals("new", labels());
        assertEquals(Set.of("a.png"), names(out.resolve("images")));
        assertFalse(Files.exists(work));
    }

    @Test
    void aPhotographThatIsNowhereElseIsKept() throws IOException {
        make(out, "old");
        Files.delete(source.resolve("b.png"));
        String told = refusal(out);
        assertTrue(told.contains(out.resolve("images/b.png") + ": is nowhere else"), told);
        assertTrue(told.contains("move " + out + " away"), told);
        assertEquals("b", Files.readString(out.resolve("images/b.png")));
        assertFalse(Files.exists(work));
    }

    @Test
    void twoNamesInTheFolderAreNoOther() throws IOException {
        Files.createLink(source.resolve("c.png"), source.resolve("a.png"));
        make(out, "old");
        Files.delete(source.resolve("a.png"));
        Files.delete(source.resolve("c.png"));
        assertTrue(refusal(out).contains("is nowhere else"));
    }

    @Test
    void aPhotographThatWasReplacedIsKept() throws IOException {
        make(out, "old");
        Path mine = Files.writeString(folder.resolve("mine.png"), "mine");
        Path replaced = out.resolve("images/a.png");
        Files.delete(replaced);
        Files.move(mine, replaced);
        String told = refusal(out);
        assertTrue(told.contains(replaced.toString()), told);
        assertEquals("mine", Files.readString(replaced));
    }

    @Test
    void aLinkThatTheUserMadeIsKept() throws IOException {
        make(out, "old");
        Files.createSymbolicLink(out.resolve("more"), source);
        assertTrue(refusal(out).contains("more: was not made by this command"));
    }

    /** As a process leaves it that is killed at the worst of moments. */
    @Test
    void theOldFolderComesBackIfTheNewOneHasNotComeInItsPlace() throws IOException {
        make(out, "old");
        killed("half");
        Files.move(out, work.resolve("replaced"));
        started(out).close();
        assertEquals("old", labels());
        assertFalse(Files.exists(work));
    }

    private void killed(String labels) throws IOException {
        make(folder.resolve("other"), labels);
        Files.createDirectories(work);
        Files.createFile(work.resolve(".unfinished_by_saccade_convert-data"));
        Files.move(folder.resolve("other"), work.resolve("made"));
    }

    @Test
    void theRestOfTheOldFolderIsTakenAway() throws IOException {
        make(out, "old");
        killed("half");
        Files.move(work.resolve("made"), work.resolve("replaced"));
        Files.delete(work.resolve("replaced/images/a.png"));
        make(out, "new");
        assertEquals("new", labels());
        assertEquals(Set.of("source", "out"), names(folder));
    }

    @Test
    void whatIsLeftHalfIsTakenAwayUnlessItIsNowhereElse() throws IOException {
        killed("half");
        Files.delete(source.resolve("b.png"));
        assertTrue(refusal(out).contains("made/images/b.png: is nowhere else"));
        assertEquals("b", Files.readString(work.resolve("made/images/b.png")));
    }

    @Test
    void aFinishedFolderOfTheNameOfAnUnfinishedOneIsKept() throws IOException {
        make(work, "mine");
        String told = refusal(out);
        assertTrue(told.contains("out.unfinished: is a folder; expected"), told);
        assertEquals("mine", Files.readString(work.resolve("labels.json")));
    }

    @Test
    void twoDoNotFillOneFolder() throws IOException {
        killed("half");
        Path lock = work.resolve(".unfinished_by_saccade_convert-data");
        try (FileChannel other = FileChannel.open(lock, StandardOpenOption.WRITE);
                FileLock taken = other.lock()) {
            assertTrue(taken.isValid());
            String told = refusal(out);
            assertTrue(told.contains("is being filled by another convert-data"), told);
        }
        make(out, "new");
        assertEquals("new", labels());
    }

    @Test
    void aLinkIsFollowed() throws IOException {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        Files.createSymbolicLink(out, disk);
        make(out, "old");
        make(out, "new");
        assertTrue(Files.isSymbolicLink(out));
        assertEquals("new", Files.readString(disk.resolve("labels.json")));
        Path nothing = Files.createSymbolicLink(folder.resolve("nothing"), Path.of("nowhere"));
        assertTrue(refusal(nothing).contains("is a link to what is not there"));
    }

    @Test
    void itLiesApartFromItsSourceWhateverLinksLeadThere() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), source);
        for (Path inside : new Path[] {source.resolve("a"), link.resolve("new/out"), folder}) {
            assertTrue(refusal(inside).contains("lies in the folder that is converted"));
        }
        assertEquals(Set.of("a.png", "b.png"), names(source));
    }
}
