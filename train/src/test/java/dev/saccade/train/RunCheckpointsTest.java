package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.models.Provenance;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.train.checkpoint.Checkpointables;
import dev.saccade.train.checkpoint.RunCheckpoints;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.checkpoint.RunLayout;
import dev.saccade.train.checkpoint.RunProvenance;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.optimizers.GradScaler;
import dev.saccade.train.optimizers.Optimizer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;

class RunCheckpointsTest {

    /** What happens to a state that lies on the disk. */
    private enum Damage {
        TRUNCATED,
        EMPTY,
        FLIPPED,
        REMOVED,
        /** By a file that is whole, but no state: one of weights alone. */
        REPLACED
    }

    private static final int SEQUENCES = 150;
    private static final int EVENTS = 12;

    @TempDir private Path folder;

    private final FailingDisk disk = new FailingDisk();
    private final TinyRun run = new TinyRun();
    private Optimizer optimizer;
    private RunFolder files;
    private RunCheckpoints process;

    @BeforeEach
    void makeRun() throws IOException {
        RunConfig config = TinyRun.config(folder);
        optimizer = config.optimizer().build(run.net);
        startAnew("run");
    }

    @AfterEach
    void close() {
        optimizer.close();
        run.manager.close();
    }

    private void startAnew(String name) throws IOException {
        disk.recover();
        files = new RunFolder(disk.wrapPath(folder.resolve(name)));
        Files.createDirectories(folder.resolve(name).resolve("checkpoints"));
        process = newProcess();
    }

    private RunCheckpoints newProcess() {
        return newProcess(TinyRun.PROVENANCE);
    }

    private RunCheckpoints newProcess(RunProvenance provenance) {
        return new RunCheckpoints(
                files,
                new Checkpointables(run.net, optimizer, Optional.empty(), new Hooks(List.of())),
                Map.of("run.data", "tiny"),
                provenance,
                new RunLayout(1, 1, 4),
                ProcessGroup.alone());
    }

    /** Saves a state whose weights tell its number. */
    private void save(int number) {
        weights().set(new float[] {number, number, number, number});
        process.saveLast(state(number));
    }

    private static RunState state(int number) {
        return new RunState(
                number,
                0,
                Double.NaN,
                0,
                false,
                GradScaler.START,
                Optional.of(new ScoreThresholds(0.52, Map.of("a: b", 0.4))));
    }

    /** Returns the number of the state that a new process would go on with. */
    private int resumed() {
        process = newProcess();
        RunState state = process.resume(warning -> {});
        assertEquals((float) state.iteration(), weights().getFloat(0), "weights and state differ");
        return Math.toIntExact(state.iteration());
    }

    private NDArray weights() {
        return run.net.namedParameters().get("norm.running_mean").getArray();
    }

    /** Saves with an operation that goes wrong and returns whether it came to that. */
    private boolean saveWith(int number, int operation, FailingDisk.Fault fault) {
        disk.failAt(operation, fault);
        try {
            save(number);
            return false;
        } catch (SaccadeException e) {
            assertEquals(SaccadeException.Kind.IO, e.kind());
            assertTrue(e.getMessage().contains("No space left"), e.getMessage());
            return true;
        } catch (FailingDisk.Killed e) {
            return true;
        } finally {
            disk.recover();
        }
    }

    private void damage(Path file, Damage damage) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        switch (damage) {
            case TRUNCATED -> Files.write(file, Arrays.copyOf(bytes, bytes.length - 7));
            case EMPTY -> Files.write(file, new byte[0]);
            case FLIPPED -> {
                bytes[bytes.length - 1]++;
                Files.write(file, bytes);
            }
            case REMOVED -> Files.delete(file);
            case REPLACED -> newProcess().saveWeights(file, state(99));
        }
    }

    @Test
    void keepsAStateAtEveryPointOfASave() throws IOException {
        save(1);
        save(2);
        int operation = 0;
        int before;
        do {
            operation++;
            before = resumed();
        } while (saveWith(before + 1, operation, FailingDisk.Fault.FULL));
        assertEquals(before + 1, resumed());
        assertTrue(operation > 5, "only " + operation + " operations");
    }

    /** Damage, the way back to the state before, and a save that goes wrong at each operation. */
    @ParameterizedTest
    @EnumSource(Damage.class)
    void keepsThePreviousStateDuringTheNextSave(Damage damage) throws IOException {
        for (FailingDisk.Fault fault : FailingDisk.Fault.values()) {
            boolean failed = true;
            for (int operation = 1; failed; operation++) {
                startAnew(fault.toString() + operation);
                save(1);
                save(2);
                damage(files.last(), damage);
                assertEquals(1, resumed());

                failed = saveWith(3, operation, fault);

                int now = resumed();
                assertTrue(now == 3 || (failed && now == 1), fault + " " + operation + ": " + now);
                if (now == 3) {
                    damage(files.last(), damage);
                    assertEquals(1, resumed(), "the state before the new one");
                }
            }
        }
    }

    @Test
    void keepsTheNewestUndamagedState() throws IOException {
        for (int sequence = 0; sequence < SEQUENCES; sequence++) {
            startAnew("sequence" + sequence);
            live(SeededRandom.of(16, sequence), "sequence " + sequence);
        }
    }

    /** Lets a run have a life full of accidents, and holds it to the two newest whole states. */
    private void live(SplittableRandom random, String name) throws IOException {
        TreeSet<Integer> owed = new TreeSet<>();
        StringBuilder story = new StringBuilder(name);
        for (int event = 1; event <= EVENTS; event++) {
            switch (random.nextInt(3)) {
                case 0 -> {
                    story.append(", save ").append(event);
                    save(event);
                    owed.add(event);
                }
                case 1 -> {
                    FailingDisk.Fault fault = any(FailingDisk.Fault.values(), random);
                    int operation = 1 + random.nextInt(8);
                    story.append(Text.format(", %s at %d in save %d", fault, operation, event));
                    saveWith(event, operation, fault);
                    if (found().equals(Optional.of(event))) {
                        owed.add(event);
                    }
                }
                default -> {
                    Path file = random.nextBoolean() ? files.last() : files.previous();
                    Damage damage = any(Damage.values(), random);
                    story.append(String.format(Locale.ROOT, ", %s %s", damage, file.getFileName()));
                    if (Files.exists(file) && Files.size(file) > 0) {
                        number(file).ifPresent(owed::remove);
                        damage(file, damage);
                    }
                }
            }
            while (owed.size() > 2) {
                owed.pollFirst();
            }
            Optional<Integer> newest = owed.isEmpty() ? Optional.empty() : Optional.of(owed.last());
            assertEquals(newest, found(), story.toString());
        }
    }

    private static <T> T any(T[] all, SplittableRandom random) {
        return all[random.nextInt(all.length)];
    }

    private Optional<Integer> found() {
        try {
            return Optional.of(resumed());
        } catch (SaccadeException e) {
            assertEquals(SaccadeException.Kind.USER, e.kind());
            return Optional.empty();
        }
    }

    private static Optional<Integer> number(Path file) {
        try {
            String iteration = SafeTensors.read(file).metadata().get("run.iteration");
            return Optional.of(Integer.valueOf(iteration));
        } catch (SaccadeException e) {
            return Optional.empty();
        }
    }

    @Test
    void storesTheProvenanceOfEachState() {
        process.saveLast(state(3).afterEvaluation(0.5, Optional.empty()));
        assertEquals(
                Optional.of(TinyRun.PROVENANCE.start().at(3, Map.of("AP", 0.5))), provenance());
        process.saveLast(state(4));
        assertEquals(Optional.of(TinyRun.PROVENANCE.start().at(4, Map.of())), provenance());
    }

    @Test
    void resumesRunsOfEarlierVersions() {
        save(1);
        process = newProcess(TinyRun.provenance("saccade 1.1"));
        List<String> notes = new ArrayList<>();
        process.resume(notes::add);
        save(2);
        assertEquals(List.of("saccade 1.0", "saccade 1.1"), provenance().orElseThrow().software());
        assertEquals(List.of(), notes);

        Map<String, String> unknown = new HashMap<>(SafeTensors.read(files.last()).metadata());
        unknown.remove(Provenance.KEY);
        SafeTensors.write(
                files.last(), new Checkpoint(SafeTensors.read(files.last()).tensors(), unknown));
        process = newProcess();
        process.resume(notes::add);
        save(3);
        assertEquals(Optional.empty(), provenance());
        assertTrue(notes.get(0).contains("has no provenance"), notes.toString());
    }

    private Optional<Provenance> provenance() {
        return Provenance.find(SafeTensors.read(files.last()).metadata(), "last");
    }

    @Test
    void namesBothUnusableStates() throws IOException {
        save(1);
        save(2);
        damage(files.last(), Damage.FLIPPED);
        damage(files.previous(), Damage.TRUNCATED);

        SaccadeException e =
                assertThrows(SaccadeException.class, () -> newProcess().resume(warning -> {}));

        for (String part : List.of("last.safetensors", "checksum", "previous.", "truncated")) {
            assertTrue(e.getMessage().contains(part), part + " in " + e.getMessage());
        }
    }
}
