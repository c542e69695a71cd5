package dev.saccade.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import javax.tools.ToolProvider;

/** Compiles what pages say of Spark. */
class PagesTest {

    private static final Pattern PROGRAM =
            Pattern.compile("^```java\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final String SOURCE =
            """
            import static org.apache.spark.sql.functions.col;
            import static org.apache.spark.sql.functions.explode;
            import dev.saccade.spark.SparkDetector;
            import dev.saccade.config.ConfigNode;
            import dev.saccade.spark.SparkJobs;
            import dev.saccade.spark.SparkTrainer;
            import dev.saccade.train.Outcome;
            import dev.saccade.train.config.RunConfig;
            import dev.saccade.tune.TuneSettings;
            import dev.saccade.tune.Tuner;
            import java.nio.file.Path;
            import java.time.Duration;
            import org.apache.spark.sql.Dataset;
            import org.apache.spark.sql.Row;
            import org.apache.spark.sql.SparkSession;
            final class Program {
                private static SparkSession spark;
                private static ConfigNode.Mapping config;
                private static TuneSettings settings;
                static void run() {
                    %s
                }
            }
            """;

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource({"README.md,3", "../docs/library.md,2"})
    void theProgramsCompile(Path page, int count) throws IOException {
        List<String> programs =
                PROGRAM.matcher(Files.readString(page))
                        .results()
                        .map(block -> block.group(1))
                        .filter(block -> block.contains("Spark"))
                        .map(block -> block.replaceAll("(?m)^import .*$", ""))
                        .toList();
        assertEquals(count, programs.size(), "programs for Spark");
        Path source = folder.resolve("Program.java");
        String blocks = String.join("}\n{\n", programs);
        Files.writeString(source, String.format(Locale.ROOT, SOURCE, "{\n" + blocks + "}\n"));
        String classPath = System.getProperty("java.class.path");
        int code =
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-cp",
                                classPath,
                                "-proc:none",
                                "-d",
                                folder.toString(),
                                source.toString());
        assertEquals(0, code, "the programs do not compile");
    }
}
