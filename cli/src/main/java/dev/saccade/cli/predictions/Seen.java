package dev.saccade.cli.predictions;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.Set;
import java.util.TreeSet;

/** What {@code predict} has seen in all, in a few numbers. */
public final class Seen {

    private final Set<String> labels = new TreeSet<>();
    private long things;
    private long photographs;

    /** Adds what the JSON says of a photograph or a frame. */
    public void add(JsonNode entry) {
        JsonNode found = entry.get("found");
        photographs++;
        things += found.size();
        found.forEach(thing -> labels.add(thing.get("label").asText()));
    }

    /** Returns how many photographs and frames were looked at. */
    public long photographs() {
        return photographs;
    }

    /** Returns how many objects, or regions of a class, there are in them together. */
    long things() {
        return things;
    }

    /** Returns how many classes these are of. */
    int classes() {
        return labels.size();
    }
}
