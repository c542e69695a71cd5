package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.saccade.core.ThisProgram;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.train.checkpoint.RunFolder;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What {@code train --nproc 2} does, in processes of its own. */
@Timeout(300)
class TrainRanksTest {

    @TempDir private Path folder;
    private Path scenes;

    @BeforeEach
    void render() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        scenes = folder.resolve("scenes");
        SceneDataset.write(scenes, new SceneRenderer(1, new Size(64, 96)), 8, 4, n -> {});
    }

    private Path said(RunFolder run) {
        return folder.resolve(run.path().getFileName() + ".txt");
    }

    private Process train(RunFolder run, String... more) throws IOException {
        List<String> command =
                new ArrayList<>(
                        ThisProgram.command(
                                Saccade.class,
                                List.of(),
                                List.of(
                                        "train",
                                        "../configs/retinanet/resnet18_fpn_demo.yaml",
                                        "--data",
                                        scenes.toString(),
                                        "--out",
                                        run.path().toString())));
        for (String setting :
                List.of(
                        "model.backbone.base_channels=4",
                        "model.backbone.stem_channels=4",
                        "model.neck.out_channels=8",
                        "model.head.feat_channels=8",
                        "data.batch_size=2",
                        "epochs=20",
                        "evaluation.every.epochs=20",
                        "device=cpu")) {
            command.addAll(List.of("--set", setting));
        }
        command.addAll(List.of("--nproc", "2"));
        command.addAll(List.of(more));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said(run).toFile())
                .start();
    }

    private void waitForCheckpoint(RunFolder run, Process training) throws Exception {
        while (!Files.exists(run.last())) {
            assertTrue(training.isAlive(), () -> read(said(run)));
            Thread.sleep(20);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Returns a rank of those that a process has launched. */
    private static ProcessHandle rank(int rank, Process launcher) {
        return launcher.children()
                .filter(
                        child -> {
                            Path variables = Path.of("/proc", child.pid() + "", "environ");
                            try {
                                return Stream.of(
                                                Files.readString(variables, ISO_8859_1)
                                                        .split("\0", -1))
                                        .anyMatch(("RANK=" + rank)::equals);
                            } catch (IOException e) {
                                return false;
                            }
                        })
                .findFirst()
                .orElseThrow();
    }

    @Test
    void killedRankIsRestartedBitForBit() throws Exception {
        RunFolder calm = new RunFolder(folder.resolve("calm"));
        assertEquals(0, train(calm).waitFor(), () -> read(said(calm)));
        String output = read(said(calm));
        assertTrue(output.contains("training on 2 ranks"), output);
        assertTrue(output.contains("report: " + calm.path().resolve("report.html")), output);
        assertEquals(
                1,
                output.lines().filter(line -> line.startsWith("class   objects")).count(),
                output);
        List<String> log = Files.readAllLines(calm.ranks().resolve("1.log"));
        assertEquals(
                List.of("=== rank 1 of 2, computing on cpu", "=== finished"), log.subList(1, 3));
        assertEquals(3, log.size(), log.toString());

        RunFolder disturbed = new RunFolder(folder.resolve("disturbed"));
        Process training = train(disturbed, "--max-restarts", "1");
        waitForCheckpoint(disturbed, training);
        rank(1, training).destroyForcibly();
        assertEquals(0, training.waitFor(), () -> read(said(disturbed)));
        assertTrue(
                read(said(disturbed))
                        .contains(
                                "saccade: rank 1 was killed by SIGKILL, possibly out of memory;"
                                        + " restarting all ranks from the last checkpoint,"
                                        + " restart 1 of 1"),
                read(said(disturbed)));
        assertArrayEquals(
                Files.readAllBytes(calm.last()), Files.readAllBytes(disturbed.last()), "the end");
    }

    @Test
    void ranksEndWithLauncherAndResume() throws Exception {
        RunFolder run = new RunFolder(folder.resolve("run"));
        Process training = train(run);
        waitForCheckpoint(run, training);
        training.destroy();
        assertEquals(143, training.waitFor(), () -> read(said(run)));
        assertEquals(0, training.children().count());
        String goOn =
                String.format(
                        Locale.ROOT,
                        "interrupted; continue, on 2 ranks as before, with: ./saccade train %s"
                                + " --resume --nproc 2",
                        run.path());
        assertTrue(read(said(run)).contains(goOn), read(said(run)));
        Process resumed = train(run, "--resume");
        assertEquals(0, resumed.waitFor(), () -> read(said(run)));
    }
}
