package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.structures.Size;

/** Another map, mirrored left to right or upside down. */
public final class MirroredMap implements ScoreMap {

    private final ScoreMap source;
    private final boolean upsideDown;

    private MirroredMap(ScoreMap source, boolean upsideDown) {
        this.source = source;
        this.upsideDown = upsideDown;
    }

    /** Returns a map mirrored left to right; it frees the other. */
    public static ScoreMap leftToRight(ScoreMap source) {
        return new MirroredMap(source, false);
    }

    /** Returns a map turned upside down as in a mirror; it frees the other. */
    public static ScoreMap upsideDown(ScoreMap source) {
        return new MirroredMap(source, true);
    }

    @Override
    public Size size() {
        return source.size();
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
        Tile there = upsideDown ? tile.turned(size().height()) : tile.mirrored(size().width());
        try (NDArray part = source.part(there)) {
            return part.flip(upsideDown ? 0 : 1);
        }
    }

    @Override
    public void close() {
        source.close();
    }
}
