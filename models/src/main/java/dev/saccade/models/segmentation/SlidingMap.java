package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Size;
import dev.saccade.models.segmentation.SlidingWindow.Span;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;

/**
 * The mean of the scores of all windows over each cell of an image. Only the windows over the rows
 * that were last asked for are held.
 */
final class SlidingMap implements ScoreMap {

    private static final long MOST_WINDOWS = 10_000;

    private final NDArray pixels;
    private final Size size;
    private final int numClasses;
    private final NDManager manager;
    private final List<Span> windowRows;
    private final List<Span> windowColumns;
    private final BiFunction<Span, Span, ScoreMap> scores;
    private final Map<Integer, List<ScoreMap>> held = new TreeMap<>();

    /**
     * Makes a map of windows that are yet to be looked at.
     *
     * @param pixels {@code [1, 3, H, W]} the image, freed with this
     * @param scores the scores of a window of the image, by its rows and columns
     */
    SlidingMap(
            NDArray pixels,
            SlidingWindow window,
            int numClasses,
            BiFunction<Span, Span, ScoreMap> scores) {
        this.pixels = pixels;
        this.size = ScoreMaps.size(pixels);
        this.numClasses = numClasses;
        this.manager = pixels.getManager();
        this.windowRows = window.rows(size);
        this.windowColumns = window.columns(size);
        long windows = (long) windowRows.size() * windowColumns.size();
        if (windows > MOST_WINDOWS) {
            throw SaccadeException.user(
                    "model.sliding_window: got %d windows over an image of %s, expected at most %d;"
                            + " a larger crop_size and stride, or a smaller image, makes fewer",
                    windows, size, MOST_WINDOWS);
        }
        this.scores = scores;
    }

    @Override
    public Size size() {
        return size;
    }

    @Override
    public int numClasses() {
        return numClasses;
    }

    @Override
    public NDManager manager() {
        return manager;
    }

    @Override
    public NDArray part(Tile tile) {
        free(tile.top(), tile.bottom());
        NDArray sums =
                manager.zeros(new Shape(tile.size().height(), tile.size().width(), numClasses));
        for (int i = 0; i < windowRows.size(); i++) {
            Span rows = windowRows.get(i);
            if (rows.overlaps(tile.top(), tile.bottom())) {
                List<ScoreMap> windows = held.computeIfAbsent(i, absent -> windows(rows));
                for (int j = 0; j < windows.size(); j++) {
                    Span columns = windowColumns.get(j);
                    if (columns.overlaps(tile.left(), tile.right())) {
                        add(windows.get(j), rows, columns, tile, sums);
                    }
                }
            }
        }
        try (NDArray rows = counts(windowRows, tile.top(), tile.bottom());
                NDArray columns = counts(windowColumns, tile.left(), tile.right());
                NDArray table = rows.reshape(-1, 1, 1);
                NDArray line = columns.reshape(-1, 1);
                NDArray windows = table.mul(line)) {
            return sums.divi(windows);
        }
    }

    private void add(ScoreMap window, Span rows, Span columns, Tile tile, NDArray sums) {
        Tile common =
                new Tile(
                        Math.max(tile.top(), rows.start()),
                        Math.min(tile.bottom(), rows.end()),
                        Math.max(tile.left(), columns.start()),
                        Math.min(tile.right(), columns.end()));
        try (NDArray part = window.part(common.from(rows.start(), columns.start()));
                NDArray place = sums.get(common.from(tile.top(), tile.left()).index())) {
            place.addi(part);
        }
    }

    private List<ScoreMap> windows(Span rows) {
        List<ScoreMap> windows = new ArrayList<>();
        windowColumns.forEach(columns -> windows.add(scores.apply(rows, columns)));
        return windows;
    }

    /** Returns how many spans hold each cell. */
    private NDArray counts(List<Span> spans, int from, int to) {
        float[] counts = new float[to - from];
        for (Span span : spans) {
            for (int i = Math.max(span.start(), from); i < Math.min(span.end(), to); i++) {
                counts[i - from]++;
            }
        }
        return Tensors.of(manager, counts, new Shape(counts.length));
    }

    /** Frees the windows that do not lie over some rows. */
    private void free(int top, int bottom) {
        held.entrySet()
                .removeIf(
                        entry -> {
                            boolean past = !windowRows.get(entry.getKey()).overlaps(top, bottom);
                            if (past) {
                                entry.getValue().forEach(ScoreMap::close);
                            }
                            return past;
                        });
    }

    @Override
    public void close() {
        free(0, 0);
        pixels.close();
    }
}
