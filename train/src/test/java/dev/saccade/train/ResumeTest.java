package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** State that a resumed run restores, and changes that it rejects. */
class ResumeTest {

    @TempDir private Path folder;

    @BeforeEach
    void writeData() throws IOException {
        CellRun.writeData(folder);
    }

    private RunConfig config(String... overrides) throws IOException {
        return CellRun.config(folder, overrides);
    }

    private static byte[] last(Path run) throws IOException {
        return Files.readAllBytes(new RunFolder(run).last());
    }

    @Test
    void resumesWithMoreEpochs() throws IOException {
        Path whole = folder.resolve("whole");
        Path parts = folder.resolve("parts");
        Training.of(config("epochs=3")).start(whole);
        Training.of(config()).start(parts);
        Training.of(config("epochs=3", "data.workers=1")).resume(parts);
        assertArrayEquals(last(whole), last(parts));
    }

    @Test
    void resumesOnAnotherDevice() throws IOException {
        Path whole = folder.resolve("whole");
        Path parts = folder.resolve("parts");
        Training.of(config("epochs=3", "device=cpu")).start(whole);
        Training.of(config("device=cpu")).start(parts);
        Path written = new RunFolder(parts).config();
        String told = Files.readString(written);
        assertTrue(told.contains("device: cpu"), told);
        Files.writeString(written, told.replace("device: cpu", "device: cuda:3"));
        Training.of(config("epochs=3", "device=cpu")).resume(parts);
        assertArrayEquals(last(whole), last(parts));
        assertEquals("cpu", Training.config(parts).device());
    }

    @Test
    void rejectsAMissingDevice() throws IOException {
        Path run = folder.resolve("run");
        SaccadeException refused =
                assertThrows(
                        SaccadeException.class,
                        () -> Training.of(config("device=cuda:999")).start(run));
        assertEquals(SaccadeException.Kind.USER, refused.kind());
        assertTrue(refused.getMessage().startsWith("cuda:999: "), refused.getMessage());
        assertFalse(Files.exists(run), "nothing is begun");
        SaccadeException unknown = assertThrows(SaccadeException.class, () -> config("device=gpu"));
        assertTrue(
                unknown.getMessage().contains("device: got gpu, expected auto, cpu, cuda or"),
                unknown.getMessage());
    }

    @Test
    void rejectsAnotherRun() throws IOException {
        Path run = folder.resolve("run");
        Training.of(config("epochs=1")).start(run);
        SaccadeException changed =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                Training.of(config("seed=3", "optimizer.learning_rate=0.1"))
                                        .resume(run));
        assertTrue(changed.getMessage().contains("seed: was 0, is 3"), changed.getMessage());
        assertTrue(
                changed.getMessage().contains("optimizer.learning_rate: was 0.001, is 0.1"),
                changed.getMessage());
        Training other = Training.of(config("model.head.type=atss"));
        SaccadeException head =
                assertThrows(SaccadeException.class, () -> other.requireResumable(run));
        assertEquals(
                "the run cannot be resumed because its config has changed:"
                        + String.format(Locale.ROOT, " model.head.type: was retinanet, is atss%n")
                        + "start a new run in another folder instead, with init_from set to the"
                        + " checkpoint of this one",
                head.getMessage());
        assertEquals(List.of("out", "init-from"), head.settings());
        Path labels = folder.resolve("labels.json");
        Files.writeString(labels, Files.readString(labels).replace("[2,4,16,20]", "[2,4,16,24]"));
        SaccadeException data =
                assertThrows(SaccadeException.class, () -> Training.of(config()).resume(run));
        assertTrue(
                data.getMessage().contains("images or labels of data.train have changed"),
                data.getMessage());
        assertTrue(data.getMessage().endsWith("init_from set to this file"), data.getMessage());
    }

    /** Rewrites what the newest state says of its model, in all else as it is. */
    private static void retell(Path run, UnaryOperator<String> model) {
        Path last = new RunFolder(run).last();
        Checkpoint state = SafeTensors.read(last);
        Map<String, String> metadata = new HashMap<>(state.metadata());
        String told = metadata.get(ModelSpec.KEY);
        metadata.put(ModelSpec.KEY, model.apply(told));
        assertNotEquals(told, metadata.get(ModelSpec.KEY));
        SafeTensors.write(last, new Checkpoint(state.tensors(), metadata));
    }

    @ParameterizedTest
    @CsvSource({
        "depth: 18, depth: 34, the model has changed",
        "type: retinanet, type: old_net, the model has changed",
    })
    void refusesToResumeAnotherModel(String was, String is, String message) throws IOException {
        Path run = folder.resolve("run");
        Training.of(config("epochs=1")).start(run);
        retell(run, model -> model.replace(was, is));
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> Training.of(config()).resume(run));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(
                e.getMessage().contains("last.safetensors: belongs to another run"),
                e.getMessage());
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    @Test
    void warnsAboutAFinishedRunAndATooLongWarmup() throws IOException {
        Path run = folder.resolve("run");
        Training.of(config("epochs=1", "schedule.warmup.iterations=100")).start(run);
        Training.of(Training.config(run)).resume(run);
        String log = Files.readString(new RunFolder(run).log());
        assertTrue(log.contains("steps are already done; increase epochs"), log);
        assertTrue(log.contains("warm-up takes 100 steps"), log);
    }

    @Test
    void moreIterationsExtendARun() throws IOException {
        Path run = folder.resolve("run");
        Training.of(config("iterations=1")).start(run);
        Training.of(Training.config(run)).resume(run);
        String log = Files.readString(new RunFolder(run).log());
        assertTrue(log.contains("steps are already done; increase iterations"), log);
        Training.of(Training.config(run).with("iterations=2")).resume(run);
        assertTrue(Files.readString(new RunFolder(run).log()).contains("the run is longer now"));
    }

    @Test
    void rejectsAFolderInUse() throws IOException {
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> Training.of(config()).start(folder));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("not empty"), e.getMessage());
    }

    @Test
    void rejectsAFolderWithoutARun() throws IOException {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> Training.of(config()).resume(folder.resolve("x")));
        assertTrue(e.getMessage().contains("is not a run folder"), e.getMessage());
    }
}
