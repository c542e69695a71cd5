package dev.saccade.datasets.loader;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.transforms.Tiles.Tile;

import org.opencv.core.Mat;
import org.opencv.core.Rect;

import java.util.List;
import java.util.function.Function;

/**
 * A decoded image and its tiles, at least two. Tiles are prepared when they are read.
 *
 * @param image the image, freed by {@link #close}
 * @param info metadata of the image, of which only id and file are used
 * @param transform prepares a tile; does not close it
 */
public record TiledImage(
        Mat image, ImageInfo info, List<Tile> tiles, Function<Sample, InferenceInput> transform)
        implements AutoCloseable {

    public Size size() {
        return new Size(image.rows(), image.cols());
    }

    /** Returns a prepared tile, which the caller closes. */
    public InferenceInput read(Tile tile) {
        Size size = tile.size();
        Mat part = image.submat(new Rect(tile.left(), tile.top(), size.width(), size.height()));
        ImageInfo own = ImageInfo.of(info.id(), info.file(), size);
        try (Sample sample = Sample.of(part, own, Instances.empty())) {
            return transform.apply(sample);
        }
    }

    @Override
    public void close() {
        image.release();
    }
}
