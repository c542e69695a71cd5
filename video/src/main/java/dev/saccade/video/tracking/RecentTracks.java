package dev.saccade.video.tracking;

import java.util.LinkedHashMap;
import java.util.Map;

/** State by identity of the {@value #LIMIT} most recent tracks, so that memory is constant. */
final class RecentTracks<V> extends LinkedHashMap<Integer, V> {

    private static final long serialVersionUID = 1;
    private static final int LIMIT = 10_000;

    RecentTracks() {
        super(16, 0.75f, /* accessOrder= */ true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<Integer, V> eldest) {
        return size() > LIMIT;
    }
}
