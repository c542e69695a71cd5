package dev.saccade.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.distributed.ProcessGroup;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What {@code predict} has seen in photographs, and which of them could not be used. */
final class Predictions {

    private final Map<String, JsonNode> byPhotograph = new LinkedHashMap<>();
    private final List<String> faults = new ArrayList<>();

    /** Adds what was seen in a photograph. */
    void add(String photo, List<?> seen) {
        byPhotograph.put(photo, JsonOption.tree(seen));
    }

    /** Adds why a photograph could not be used. */
    void addFault(String fault) {
        faults.add(fault);
    }

    /** Returns what was seen by the names of the photographs, in their order. */
    Map<String, JsonNode> byPhotograph() {
        return byPhotograph;
    }

    List<String> faults() {
        return faults;
    }

    /** Returns the content of {@code predictions.json}. */
    byte[] json() {
        return JsonOption.text(byPhotograph).getBytes(UTF_8);
    }

    /** Returns those of all ranks, which each of them has called this for. */
    Predictions ofAll(ProcessGroup ranks) {
        if (ranks.worldSize() == 1) {
            return this;
        }
        Map<String, Object> own = ImmutableMap.of("seen", byPhotograph, "faults", faults);
        Predictions all = new Predictions();
        for (byte[] told : ranks.allGather(JsonOption.text(own).getBytes(UTF_8))) {
            JsonNode part = JsonOption.parse(told);
            part.get("seen")
                    .properties()
                    .forEach(entry -> all.byPhotograph.put(entry.getKey(), entry.getValue()));
            part.get("faults").forEach(fault -> all.faults.add(fault.asText()));
        }
        return all;
    }
}
