package dev.saccade.models.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Valid files with a few bytes changed: read, or refused in one line, and nothing else. */
class CheckpointFuzzTest {

    private record Change(int position, byte value) {}

    private static Path file;
    private static byte[] safeTensors;

    @BeforeContainer
    static void write() throws IOException {
        file = Files.createTempFile("fuzz", ".pth");
        SafeTensors.write(
                file,
                new Checkpoint(
                        Map.of("a", TestFiles.tensor(new Shape(2), 1, 2)), Map.of("k", "v")));
        safeTensors = Files.readAllBytes(file);
    }

    @AfterContainer
    static void delete() throws IOException {
        Files.delete(file);
    }

    @Property(tries = 200)
    void safeTensors(@ForAll("changes") List<Change> changes) {
        assertReadOrRefused(safeTensors, safeTensors.length, changes);
    }

    @Property(tries = 300)
    void zip(@ForAll("changes") List<Change> changes) {
        byte[] bytes = TestFiles.bytes("kinds_zip.pth");
        assertReadOrRefused(bytes, bytes.length, changes);
    }

    @Property(tries = 300)
    void pickle(@ForAll("changes") List<Change> changes) {
        assertReadOrRefused(TestFiles.bytes("training_zip.pth"), 2000, changes);
    }

    @Property(tries = 300)
    void legacy(@ForAll("changes") List<Change> changes) {
        byte[] bytes = TestFiles.bytes("kinds_legacy.pth");
        assertReadOrRefused(bytes, bytes.length, changes);
    }

    @Provide
    Arbitrary<List<Change>> changes() {
        return Combinators.combine(Arbitraries.integers().between(0, 1 << 20), Arbitraries.bytes())
                .as(Change::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(6);
    }

    private static void assertReadOrRefused(byte[] good, int range, List<Change> changes) {
        byte[] bad = good.clone();
        changes.forEach(change -> bad[change.position % range] = change.value);
        try {
            Files.write(file, bad);
            Checkpoints.open(file).tensors().values().forEach(Tensor::floats);
        } catch (SaccadeException e) {
            assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
            assertTrue(e.getMessage().length() < 1000, e.getMessage());
            assertEquals(1, e.getMessage().lines().count(), e.getMessage());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
