package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class BenchCommandTest {

    @TempDir Path folder;

    private static CommandResult bench(Path model, Object... options) {
        List<Object> args = new ArrayList<>(List.of("bench", "model", model));
        args.addAll(List.of("--runs", 1, "--fused-only", "--json"));
        args.addAll(List.of(options));
        return saccade(args.toArray());
    }

    private static void assertInput(String size, int classes, CommandResult output)
            throws IOException {
        assertEquals(0, output.code(), output.err());
        JsonNode json = new ObjectMapper().readTree(output.out());
        assertEquals(size, json.get("input").asText(), output.out());
        assertEquals(classes, json.get("classes").asInt(), output.out());
        assertTrue(json.get("peak_memory_mib").asInt() > 0, output.out());
    }

    @Test
    void usesImageSizeAndClassesOfTheRun() throws IOException {
        TinyRun tiny = TinyRun.shared();
        CommandResult ofRun = bench(tiny.run());
        assertInput("192x256", 4, ofRun);
        assertTrue(ofRun.err().contains("first validation image"), ofRun.err());
        Path checkpoint = tiny.run().resolve("checkpoints").resolve("best.safetensors");
        assertInput("192x256", 4, bench(checkpoint));

        Path copy = Files.copy(checkpoint, folder.resolve("copy.safetensors"));
        CommandResult ofCopy = bench(copy);
        assertInput("192x256", 4, ofCopy);
        assertTrue(ofCopy.err().contains("validation images are not available"), ofCopy.err());

        assertInput("64x96", 5, bench(tiny.run(), "--size", "64x96", "--classes", 5));
    }

    @Test
    void usesDefaultsForConfigs() throws IOException {
        CommandResult output = saccade("info", TinyRun.shared().recipe(), "--json");
        JsonNode json = new ObjectMapper().readTree(output.out());
        assertEquals("800x1344", json.get("input").asText(), output.out());
    }
}
