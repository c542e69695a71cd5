package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.train.Training;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Selection of devices by commands. */
class DeviceTest {

    /** Creation of a tensor from numbers in a script, up to the end of its line. */
    private static final Pattern MADE =
            Pattern.compile(
                    "torch\\.(?:zeros|ones|full|empty|eye|arange|linspace|tensor|rand\\w*)\\(.*");

    /** Tensors that may be on any device. */
    private static final List<String> ANYWHERE =
            List.of("torch.tensor(x.requires_grad)", "torch.empty([0])");

    /** A line of {@code env} in the page. */
    private static final Pattern SHOWN = Pattern.compile(" {3}([a-z]+) {4,}\\S.*");

    @TempDir static Path folder;
    private static TinyRun tiny;

    @BeforeAll
    static void train() throws IOException {
        tiny = TinyRun.shared();
    }

    /** Runs a command on the tiny scenes. */
    private static CommandResult run(String command, String... more) {
        List<Object> args =
                new ArrayList<>(
                        switch (command) {
                            case "train" ->
                                    List.of("train", tiny.recipe(), "--data", tiny.scenes());
                            case "eval" -> List.of("eval", tiny.run(), "--data", tiny.scenes());
                            case "predict" ->
                                    List.of("predict", tiny.run(), tiny.scenes().resolve("images"));
                            case "bench" -> List.of("bench", "model", tiny.recipe());
                            default -> List.of("demo");
                        });
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "eval", "predict", "bench", "demo"})
    void rejectsMissingDevices(String command) {
        String out = folder.resolve("never").toString();
        String[] where =
                command.equals("eval") || command.equals("bench")
                        ? new String[0]
                        : new String[] {"--out", out};
        for (String device : List.of("cuda:999", "gpu")) {
            List<String> more = new ArrayList<>(List.of(where));
            more.addAll(List.of("--device", device));
            CommandResult ended = run(command, more.toArray(String[]::new));
            assertEquals(2, ended.code(), ended.err());
            String output =
                    device.equals("gpu")
                            ? "saccade: --device: got gpu, expected auto, cpu, cuda or the index"
                                    + " of a GPU, such as cuda:1"
                            : "saccade: cuda:999: ";
            assertTrue(ended.err().contains(output), ended.err());
            assertFalse(ended.err().contains("\tat "), ended.err());
        }
        assertFalse(Files.exists(Path.of(out)), "nothing is begun");
    }

    @Test
    void deviceOptionSetsDeviceOfRun() {
        Path out = folder.resolve("on-cpu");
        CommandResult ended =
                run(
                        "train",
                        "--out",
                        out.toString(),
                        "--device",
                        "cpu",
                        "--set",
                        "device=cuda:999",
                        "--set",
                        "epochs=1",
                        "--set",
                        "model.backbone.base_channels=4",
                        "--set",
                        "model.backbone.stem_channels=4");
        assertEquals(0, ended.code(), ended.err());
        assertEquals("cpu", Training.config(out).device());
        assertEquals(0, run("eval", "--device", "cpu").code());
        String found = folder.resolve("found").toString();
        assertEquals(0, run("predict", "--device", "cpu", "--out", found).code());
        CommandResult bench =
                run("bench", "--device", "cpu", "--size", "64x64", "--runs", "1", "--json");
        assertTrue(bench.out().contains("\"device\" : \"cpu\""), bench.out());
    }

    @Test
    void envPrintsVersionsAndProblems() throws IOException {
        JsonNode facts = new ObjectMapper().readTree(saccade("env", "--json").out());
        assertTrue(facts.get("libtorch").asText().startsWith("2.7.1, in /"), facts.toString());
        assertTrue(facts.get("gpus").isArray(), facts.toString());
        assertTrue(facts.get("device").asText().matches("auto is (cpu|cuda:0)"), facts.toString());
        assertEquals(
                facts.get("device").asText().endsWith("cuda:0"),
                facts.get("missing").asText().equals("nothing"),
                facts.toString());
        CommandResult plain = saccade("env");
        for (String name :
                List.of("libtorch", "cuda", "driver", "gpus", "kernels", "missing", "quantized")) {
            assertEquals(
                    1,
                    plain.out().lines().filter(line -> line.startsWith(name + " ")).count(),
                    plain.out());
        }
    }

    @Test
    void pageShowsEnvOutput() throws IOException {
        JsonNode facts = new ObjectMapper().readTree(saccade("env", "--json").out());
        List<String> shown =
                Files.readAllLines(Path.of("..", "docs", "gpu.md")).stream()
                        .map(SHOWN::matcher)
                        .filter(Matcher::matches)
                        .map(line -> line.group(1))
                        .toList();
        assertEquals(7, shown.size(), shown.toString());
        List<String> printed = new ArrayList<>();
        facts.fieldNames().forEachRemaining(printed::add);
        printed.retainAll(shown);
        assertEquals(shown, printed);
    }

    @Test
    void scriptsCreateTensorsOnInputDevice() throws IOException {
        List<String> elsewhere = new ArrayList<>();
        int made = 0;
        try (Stream<Path> files = Files.walk(Path.of(".."), 12)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".java"))
                            .filter(path -> path.toString().contains("/src/main/java/"))
                            .toList()) {
                Matcher calls = MADE.matcher(Files.readString(file));
                while (calls.find()) {
                    made++;
                    String call = calls.group();
                    if (!call.contains("device=")
                            && ANYWHERE.stream().noneMatch(call::startsWith)) {
                        elsewhere.add(file + ": " + call);
                    }
                }
            }
        }
        assertTrue(made > 10, made + " are found");
        assertEquals(List.of(), elsewhere, "scripts that make tensors on the CPU");
    }
}
