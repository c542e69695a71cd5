package dev.saccade.cli.predictions;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.Multiset;
import com.google.common.collect.TreeMultiset;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What {@code predict} has seen in all, in a few numbers. */
public final class Seen {

    private final Set<String> labels = new TreeSet<>();
    private final Multiset<Integer> sizes = TreeMultiset.create();
    private long objects;
    private long photographs;

    /** Adds what the JSON says of a photograph or a frame. */
    public void add(JsonNode entry) {
        photographs++;
        for (String kind : List.of("objects", "regions")) {
            entry.path(kind).forEach(each -> labels.add(each.get("label").asText()));
        }
        objects += entry.path("objects").size();
        sizes.add(entry.path("objects").size());
    }

    /** Returns how many photographs and frames were looked at. */
    public long photographs() {
        return photographs;
    }

    /** Returns the number of detections in all images. */
    long objects() {
        return objects;
    }

    /** Returns the number of images with at least a number of objects. */
    long withAtLeast(int objects) {
        return sizes.stream().filter(size -> size >= objects).count();
    }

    /** Returns how many classes these are of. */
    int classes() {
        return labels.size();
    }
}
