package dev.saccade.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.train.config.RunConfig;

import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Trains on a Spark whose two executors are processes, one of which is killed in the middle. */
class ClusterTrainingTest {

    @TempDir Path folder;

    /** A driver: it gets the config of a run and its folder. */
    static final class Driver {

        private Driver() {}

        public static void main(String[] args) {
            SparkSession spark =
                    SparkSession.builder()
                            .master("local-cluster[2,1,512]")
                            .config("spark.executor.memory", "512m")
                            .config("spark.ui.enabled", false)
                            .config(
                                    "spark.executor.extraClassPath",
                                    System.getProperty("java.class.path"))
                            .config(
                                    "spark.executor.extraJavaOptions",
                                    "-Dai.djl.offline=true -Dai.djl.pytorch.num_threads=1"
                                            + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
                            .getOrCreate();
            SparkTrainer trainer =
                    SparkTrainer.of(RunConfig.load(Path.of(args[0])))
                            .ranks(2)
                            .maxRestarts(1)
                            .timeout(Duration.ofMinutes(2));
            System.out.println(trainer.start(spark, Path.of(args[1])));
            spark.stop();
        }
    }

    @Test
    @Timeout(240)
    void anExecutorThatIsKilledCostsNothingButTime() throws Exception {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        RunConfig config = TinyTraining.in(folder.resolve("data"));
        byte[] expected = TinyTraining.withoutSpark(config, folder.resolve("expected"));

        Path times = Files.createDirectories(folder.resolve("times"));
        Files.createFile(times.resolve("once"));
        RunConfig killing = TinyTraining.failing(config, FailingHook.Way.KILL, 1, 5, times);
        Path file = TinyTraining.write(killing, folder.resolve("killing.yaml"));
        Path run = folder.resolve("run");
        String said = drive(file.toString(), run.toString());
        assertTrue(said.contains("Spark lost a rank: ExecutorLostFailure"), said);
        assertTrue(
                said.contains(
                        "exited with code 137; all ranks start again from the last checkpoint,"
                                + " restart 1 of 1"),
                said);
        assertTrue(said.contains("FINISHED"), said);
        assertArrayEquals(expected, TinyTraining.last(run), said);
    }

    /** Returns what a driver says in a process of its own. */
    private String drive(String... args) throws IOException, InterruptedException {
        Path home = folder.resolve("spark");
        Files.createDirectories(home.resolve("jars"));
        Path output = folder.resolve("output");
        List<String> command =
                Stream.concat(
                                Stream.of(
                                        Path.of(System.getProperty("java.home"), "bin", "java")
                                                .toString(),
                                        "-Xmx512m",
                                        "-XX:TieredStopAtLevel=1",
                                        "-XX:+UseSerialGC",
                                        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                                        "-Dtest.log.level=warn",
                                        "-cp",
                                        System.getProperty("java.class.path"),
                                        Driver.class.getName()),
                                Stream.of(args))
                        .toList();
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .directory(home.toFile());
        builder.environment()
                .putAll(
                        Map.of(
                                "SPARK_HOME", home.toString(),
                                "SPARK_SCALA_VERSION", "2.12",
                                "SPARK_LOCAL_IP", "127.0.0.1"));
        Process driver = builder.start();
        try {
            int code = driver.waitFor();
            String said = Files.readString(output);
            assertEquals(0, code, said);
            return said;
        } finally {
            driver.destroyForcibly();
        }
    }
}
