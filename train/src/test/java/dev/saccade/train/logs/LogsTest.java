package dev.saccade.train.logs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.FailingDisk;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

class LogsTest {

    private static final Clock CLOCK =
            Clock.fixed(Instant.parse("2026-11-21T08:00:00Z"), ZoneOffset.UTC);

    private static final MemoryUse MEMORY = new MemoryUse(3L << 20, 2L << 20, 42);

    @TempDir private Path folder;

    private static StepReport step(long iteration) {
        return new StepReport(
                iteration,
                400,
                1,
                0.0125,
                1.75,
                ImmutableMap.of("loss_cls", 1.5, "loss_bbox", 0.25),
                ImmutableMap.of("acc", 93.75),
                3.5,
                0.8,
                0.2,
                Duration.ofSeconds(3725));
    }

    private static EvaluationReport evaluation(Map<String, byte[]> pictures) {
        return new EvaluationReport(
                100, 2, ImmutableMap.of("AP", 0.5), "AP", pictures, true, List.of());
    }

    @Test
    void writesOneLinePerEvent() throws IOException {
        Path file = folder.resolve("run/train.log");
        try (TextLog log = new TextLog(file, CLOCK)) {
            log.writeLine("learning rate 0.02");
            log.writeSteps(step(50), MEMORY);
            log.writeEvaluation(evaluation(Map.of()));
        }
        assertEquals(
                List.of(
                        "2026-11-21 08:00:00  learning rate 0.02",
                        "2026-11-21 08:00:00  epoch 2  step 50/400  lr 1.250e-02  loss 1.7500"
                                + " (loss_cls 1.5000, loss_bbox 0.2500)  acc 93.7500"
                                + "  grad_norm 3.500  0.800 s/step  data 25 %  eta 1:02:05"
                                + "  memory 3 MiB  peak tensor memory 2 MiB  42 arrays",
                        "2026-11-21 08:00:00  evaluation after 100 steps: AP 0.5000"
                                + " (best so far)"),
                Files.readAllLines(file));
    }

    @Test
    void resumedJsonHasEachStepOnce() throws IOException {
        Path file = folder.resolve("metrics.jsonl");
        try (JsonLog log = new JsonLog(file, 0)) {
            log.writeSteps(step(50), MEMORY);
            log.writeSteps(step(100), MEMORY);
            log.writeEvaluation(evaluation(Map.of()));
            log.writeSteps(step(150), MEMORY);
        }
        Files.writeString(file, "{\"event\":\"st", UTF_8, StandardOpenOption.APPEND);
        try (JsonLog log = new JsonLog(file, 100)) {
            log.writeSteps(step(150), MEMORY);
        }
        List<String> lines = Files.readAllLines(file);
        assertEquals(4, lines.size());
        assertEquals(
                "{\"event\":\"step\",\"iteration\":50,\"epoch\":2,\"learning_rate\":0.0125,"
                        + "\"loss\":1.75,\"losses\":{\"loss_cls\":1.5,\"loss_bbox\":0.25},"
                        + "\"metrics\":{\"acc\":93.75},\"gradient_norm\":3.5,\"seconds\":0.8,\"data_seconds\":0.2,"
                        + "\"resident_bytes\":3145728,\"peak_tensor_bytes\":2097152,\"arrays\":42}",
                lines.get(0));
        assertEquals(
                "{\"event\":\"evaluation\",\"iteration\":100,\"epoch\":2,"
                        + "\"metrics\":{\"AP\":0.5},\"monitor\":\"AP\",\"best\":true}",
                lines.get(2));
        assertTrue(lines.get(3).contains("\"iteration\":150"));
    }

    @Test
    void fullDiskTruncatesNoLog() throws IOException {
        FailingDisk disk = new FailingDisk();
        Path file = disk.wrapPath(folder).resolve("train.log");
        try (TextLog log = new TextLog(file, CLOCK)) {
            log.writeLine("a first line");
            disk.failAt(1, FailingDisk.Fault.FULL);
            SaccadeException e =
                    assertThrows(SaccadeException.class, () -> log.writeLine("a second line"));
            assertTrue(e.getMessage().contains("No space left"), e.getMessage());
            disk.recover();
            log.writeLine("a third line");
        }
        assertEquals(
                List.of("2026-11-21 08:00:00  a first line", "2026-11-21 08:00:00  a third line"),
                Files.readAllLines(file));
    }

    @Test
    void fullDiskKeepsTheMetrics() throws IOException {
        FailingDisk disk = new FailingDisk();
        Path file = disk.wrapPath(folder).resolve("metrics.jsonl");
        try (JsonLog log = new JsonLog(file, 0)) {
            log.writeSteps(step(50), MEMORY);
            log.writeSteps(step(100), MEMORY);
        }
        String before = Files.readString(file);
        for (int operation = 1; operation <= 4; operation++) {
            disk.failAt(operation, FailingDisk.Fault.FULL);
            assertThrows(SaccadeException.class, () -> new JsonLog(file, 50));
            assertEquals(before, Files.readString(file));
        }
    }

    @Test
    void endsTheIncompleteLineOfAKilledProcess() throws IOException {
        Path file = Files.writeString(folder.resolve("train.log"), "2026-11-20 08:00:00  half a");
        try (TextLog log = new TextLog(file, CLOCK)) {
            log.writeLine("resuming");
        }
        assertEquals(
                List.of("2026-11-20 08:00:00  half a", "2026-11-21 08:00:00  resuming"),
                Files.readAllLines(file));
    }

    @Test
    void ignoresIncompleteJsonAfterACrash() throws IOException {
        Path file = folder.resolve("metrics.jsonl");
        String line = "{\"iteration\":1}\n";
        Files.write(file, line.getBytes(UTF_8));
        Files.write(file, new byte[] {'{', '"', (byte) 0xC3}, StandardOpenOption.APPEND);
        new JsonLog(file, 1).close();
        assertEquals(line, Files.readString(file));
    }

    @Test
    void tensorBoardReadsTheEvents() throws IOException {
        byte[] png = new byte[24];
        png[19] = 7;
        png[23] = 5;
        try (TensorBoardLog log = new TensorBoardLog(folder, 99, CLOCK)) {
            log.writeEvaluation(evaluation(Map.of("scene", png)));
        }
        Path file = folder.resolve("events.out.tfevents.1795248000000.saccade");
        assertEquals(GOLDEN, HexFormat.of().formatHex(Files.readAllBytes(file)));
    }

    @Test
    void unwritableLogIsAnIoError() throws IOException {
        Path blocked = Files.createFile(folder.resolve("blocked"));
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> new TextLog(blocked.resolve("train.log"), CLOCK));
        assertEquals(SaccadeException.Kind.IO, e.kind());
        assertTrue(e.getMessage().contains("train.log"), e.getMessage());
    }

    @Test
    void residentMemoryIsPlausible() {
        try (NDManager manager = NDManager.newBaseManager()) {
            int before = MemoryUse.now(manager).arrays();
            manager.create(1);
            assertEquals(before + 1, MemoryUse.now(manager).arrays());
        }
    }

    // TensorBoard's own reader accepted these bytes when they were recorded.
    private static final String GOLDEN =
            "1a00000000000000129bd82d09000000e053c0da4110001a0d627261696e2e45"
                    + "76656e743a32582be3450f000000000000006d532b0909000000e053c0da4110"
                    + "633a0208011e4505f54d000000000000003d63d4a609000000e053c0da411064"
                    + "2a400a0e0a076576616c2f4150150000003f0a2e0a0a6576616c2f7363656e65"
                    + "2220080510071803221800000000000000000000000000000000000000070000"
                    + "000544089b73";
}
