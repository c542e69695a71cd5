package dev.saccade.cli.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableMap;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.distributed.ProcessGroup;

import java.util.ArrayList;
import java.util.List;

/**
 * What {@code predict} has seen in photographs, as {@code predictions.json} has it, and which of
 * them could not be used.
 */
public final class Predictions {

    public static final String NAME = "predictions.json";

    private final List<JsonNode> seen = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final ImageWarnings warnings = new ImageWarnings();

    /** Adds what was seen in a photograph. */
    public void add(String photo, Prediction prediction) {
        seen.add(JsonOption.tree(prediction.entry(ImmutableMap.of("image", photo))));
    }

    /** Adds why a photograph could not be used. */
    public void addFault(String fault) {
        faults.add(fault);
    }

    /** Returns an entry for each photograph, in their order. */
    public List<JsonNode> seen() {
        return seen;
    }

    public List<String> faults() {
        return faults;
    }

    public ImageWarnings warnings() {
        return warnings;
    }

    /** Returns the content of the file. */
    public byte[] json() {
        return JsonOption.text(seen).getBytes(UTF_8);
    }

    /** Returns those of all ranks, which each of them has called this for. */
    public Predictions ofAll(ProcessGroup ranks) {
        if (ranks.worldSize() == 1) {
            return this;
        }
        Predictions all = new Predictions();
        for (byte[] told :
                ranks.allGather(
                        JsonOption.text(
                                        ImmutableMap.of(
                                                "seen",
                                                seen,
                                                "faults",
                                                faults,
                                                "warnings",
                                                warnings.content()))
                                .getBytes(UTF_8))) {
            JsonNode part = JsonOption.parse(told);
            part.get("seen").forEach(all.seen::add);
            part.get("faults").forEach(fault -> all.faults.add(fault.asText()));
            all.warnings.addAll(part.get("warnings"));
        }
        return all;
    }
}
