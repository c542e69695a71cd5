package dev.saccade.datasets.loader;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.transforms.Tiles.Tile;

import org.opencv.core.Mat;

import java.util.List;
import java.util.function.Function;

/**
 * An image and its tiles, at least two. Tiles are read and prepared on demand.
 *
 * @param pixels returns the pixels of a tile, which are freed after use
 * @param info metadata of the image, of which only id and file are used
 * @param transform prepares a tile; does not close it
 * @param source closed by {@link #close}
 */
public record TiledImage(
        Size size,
        Function<Tile, Mat> pixels,
        ImageInfo info,
        List<Tile> tiles,
        Function<Sample, InferenceInput> transform,
        Runnable source)
        implements AutoCloseable {

    /** Returns a prepared tile, which the caller closes. */
    public InferenceInput read(Tile tile) {
        ImageInfo own = ImageInfo.of(info.id(), info.file(), tile.size());
        try (Sample sample = Sample.of(pixels.apply(tile), own, Instances.empty())) {
            return transform.apply(sample);
        }
    }

    @Override
    public void close() {
        source.run();
    }
}
