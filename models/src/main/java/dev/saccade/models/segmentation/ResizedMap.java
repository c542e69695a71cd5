package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.BilinearResize;
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
    public NDArray rows(int top, int bottom) {
        BilinearResize.Band band = resize.band(top, bottom);
        try (NDArray narrow = source.rows(band.first(), band.last());
                NDArray wide = resize.columns(narrow)) {
            return resize.rows(wide, band);
        }
    }

    @Override
    public void close() {
        source.close();
    }
}
