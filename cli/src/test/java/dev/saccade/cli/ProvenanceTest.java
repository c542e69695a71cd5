package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.models.Provenance;
import dev.saccade.train.checkpoint.RunFolder;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class ProvenanceTest {

    @TempDir private Path folder;

    @Test
    void infoPrintsTheProvenanceOfARun() throws Exception {
        TinyRun tiny = TinyRun.shared();
        String out = info(tiny.run(), "--size", "64x64");
        assertTrue(out.contains("  trained with   saccade "), out);
        assertTrue(out.contains("  init_from      random\n"), out);
        assertTrue(out.contains("  data           scenes, 8 images, fingerprint "), out);
        assertTrue(out.matches("(?s).*  metrics        AP [01]\\.\\d{4}\n"), out);

        Path best = new RunFolder(tiny.run()).best();
        JsonNode json = new ObjectMapper().readTree(info(best, "--size", "64x64", "--json"));
        assertEquals("4", json.at("/provenance/config/model.backbone.base_channels").asText());
        assertEquals(8, json.at("/provenance/data/images").asInt());
        assertTrue(json.at("/parameters").asLong() > 0, json.toString());

        String card = info(tiny.run(), "--card");
        assertTrue(card.startsWith("---\nlibrary_name: saccade\n"), card);
        assertTrue(card.contains("datasets:\n- scenes\nmetrics:\n- AP\n"), card);
    }

    @Test
    void recordsInitialWeightsWithTheirChecksum() throws Exception {
        TinyRun tiny = TinyRun.shared();
        Path parent = new RunFolder(tiny.run()).best();
        Path run = folder.resolve("child");
        saccade(
                "train",
                tiny.run().resolve("config.yaml"),
                "--set",
                "init_from=" + parent,
                "--out",
                run);
        Provenance child = provenance(new RunFolder(run).last());
        assertEquals("best.safetensors", child.initFrom().orElseThrow().name());
        assertEquals(Checkpoints.checksum(parent), child.initFrom().orElseThrow().sha256());
        assertFalse(child.toString().contains(folder.toString()), child.toString());
    }

    @Test
    void isUnknownForOldCheckpoints() throws Exception {
        Path best = new RunFolder(TinyRun.shared().run()).best();
        Checkpoint checkpoint = Checkpoints.open(best);
        Map<String, String> metadata = new HashMap<>(checkpoint.metadata());
        metadata.remove(Provenance.KEY);
        Path old = folder.resolve("old.safetensors");
        Checkpoints.save(old, new Checkpoint(checkpoint.tensors(), metadata));
        String out = info(old, "--size", "64x64");
        assertTrue(
                out.endsWith("  provenance     unknown; the file was written without it\n"), out);
        assertTrue(info(old, "--size", "64x64", "--json").contains("\"provenance\" : null"));
    }

    @ParameterizedTest
    @CsvSource({"onnx, model.onnx", "torchscript, model.pt", "safetensors, model.safetensors"})
    void isPartOfExports(String format, String name) throws Exception {
        Path run = TinyRun.shared().run();
        Path out = folder.resolve(format);
        assertEquals(0, saccade(export(run, format, out).toArray()).code());
        Path file = out.resolve(name);
        String printed = info(file);
        String expected = Provenance.describe(Optional.of(provenance(best(run))));
        assertTrue(printed.endsWith(expected + "\n"), printed);
        assertTrue(Files.readString(out.resolve("model_card.md")).contains("| Seed | "));
        if (!format.equals("safetensors")) {
            JsonNode description = new ObjectMapper().readTree(out.resolve("model.json").toFile());
            assertEquals(8, description.at("/provenance/data/images").asInt());
            CommandResult card = saccade("info", file, "--card");
            assertEquals(2, card.code());
            assertTrue(card.err().contains("--card needs a run or a checkpoint"), card.err());
        }
    }

    private static List<Object> export(Path run, String format, Path out) {
        return format.equals("safetensors")
                ? List.of("export", run, "--format", format, "--out", out)
                : List.of("export", run, "--format", format, "--out", out, "--images", "0");
    }

    private static Path best(Path run) {
        return new RunFolder(run).best();
    }

    private static Provenance provenance(Path file) {
        return Provenance.find(Checkpoints.open(file).metadata(), file.toString()).orElseThrow();
    }

    private static String info(Object... arguments) throws IOException {
        List<Object> all = new ArrayList<>(List.of("info"));
        all.addAll(List.of(arguments));
        CommandResult result = saccade(all.toArray());
        assertEquals(0, result.code(), result.err());
        return result.out();
    }
}
