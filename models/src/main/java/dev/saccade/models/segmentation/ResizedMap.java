package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.ops.vision.BilinearResize;
import dev.saccade.core.structures.Size;

/** Another map, resized. */
final class ResizedMap implements ScoreMap {

    private final ScoreMap source;
    private final BilinearResize resize;

    private ResizedMap(ScoreMap source, BilinearResize resize) {
        this.source = source;
        this.resize = resize;
    }

    /** Returns a map at a size; it frees the other. */
    static ScoreMap of(ScoreMap source, Size size, boolean alignCorners) {
        return source.size().equals(size)
                ? source
                : new ResizedMap(source, new BilinearResize(source.size(), size, alignCorners));
    }

    @Override
    public Size size() {
        return resize.to();
    }

    @Override
    public int numClasses() {
        return source.numClasses();
    }

    @Override
    public NDManager manager() {
        return source.manager();
    }

    @Override
    public NDArray part(Tile tile) {
        BilinearResize.Band rows = resize.rows(tile.top(), tile.bottom());
        BilinearResize.Band columns = resize.columns(tile.left(), tile.right());
        Tile origin = new Tile(rows.first(), rows.last(), columns.first(), columns.last());
        try (NDArray x = source.part(origin)) {
            return BilinearResize.part(x, rows, columns);
        }
    }

    @Override
    public void close() {
        source.close();
    }
}
