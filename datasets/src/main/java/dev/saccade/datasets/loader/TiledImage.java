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
 * A decoded photograph and the tiles in which a model looks at it. Of tiles, only what is asked for
 * is held beside it.
 */
public final class TiledImage implements AutoCloseable {

    private final Mat photo;
    private final ImageInfo info;
    private final List<Tile> tiles;
    private final Function<Sample, ImageViews> views;

    /**
     * Keeps a photograph of its own.
     *
     * @param photo freed with this
     * @param info of which id and name are taken
     * @param views makes the views of a tile, which it does not free
     */
    TiledImage(Mat photo, ImageInfo info, List<Tile> tiles, Function<Sample, ImageViews> views) {
        this.photo = photo;
        this.info = info;
        this.tiles = tiles;
        this.views = views;
    }

    /** Returns height and width of the photograph. */
    public Size size() {
        return new Size(photo.rows(), photo.cols());
    }

    /** Returns the tiles, at least two. */
    public List<Tile> tiles() {
        return tiles;
    }

    /** Returns the views of a tile, which the caller closes. */
    public ImageViews read(Tile tile) {
        Size size = tile.size();
        Mat part = photo.submat(new Rect(tile.left(), tile.top(), size.width(), size.height()));
        ImageInfo own = ImageInfo.of(info.id(), info.file(), size);
        try (Sample sample = Sample.of(part, own, Instances.empty())) {
            return views.apply(sample);
        }
    }

    @Override
    public void close() {
        photo.release();
    }
}
