package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;

import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decodes photographs, once each, and makes views of them, for test time.
 *
 * <p>Safe for use by many threads.
 */
public final class ViewReader {

    private final ImmutableList<List<Transform>> views;
    private final Optional<Tiles> tiles;
    private final BufferPool buffers = new BufferPool();

    /**
     * Prepares reading.
     *
     * @param views what is done to a photograph in each view, such as {@link
     *     dev.saccade.datasets.transforms.TestTimeAugmentation#views} says
     */
    public ViewReader(List<List<Transform>> views) {
        this(views, Optional.empty());
    }

    /**
     * Prepares reading.
     *
     * @param views what is done to a photograph in each view, or to each of its tiles
     * @param tiles in which photographs are looked at that are larger, if any
     */
    public ViewReader(List<List<Transform>> views, Optional<Tiles> tiles) {
        checkArgument(!views.isEmpty(), "views: at least one expected, got none");
        this.views = ImmutableList.copyOf(views);
        this.tiles = tiles;
    }

    /**
     * Returns one photograph of a data set.
     *
     * @throws SaccadeException if the file cannot be used or has another size than declared; names
     *     image id and file
     */
    public ImageViews read(Dataset dataset, int index) {
        ImageFile image = dataset.image(index);
        return ImageDecoder.describingFailure(
                image,
                () -> {
                    try (Sample decoded = ImageDecoder.read(image)) {
                        return views(List.of(decoded));
                    }
                });
    }

    /**
     * Returns loose photographs, together; several ones are not looked at in tiles.
     *
     * @throws SaccadeException if one cannot be used; names it
     */
    public ImageViews read(List<ImageSource> images) {
        List<Sample> decoded = new ArrayList<>();
        try {
            images.forEach(image -> decoded.add(ImageDecoder.read(image)));
            return views(decoded);
        } finally {
            decoded.forEach(Sample::close);
        }
    }

    private ImageViews views(List<Sample> decoded) {
        Sample image = decoded.get(0);
        List<Tile> parts =
                tiles.isPresent() && decoded.size() == 1
                        ? tiles.get().of(image.info().size())
                        : List.of();
        if (parts.size() <= 1) {
            return whole(decoded);
        }
        List<Batch> batches = tiles.orElseThrow().whole() ? whole(decoded).batches() : List.of();
        Mat pixels = image.shallowCopy().image();
        return new ImageViews(
                batches,
                Optional.of(
                        new TiledImage(pixels, image.info(), parts, tile -> whole(List.of(tile)))));
    }

    private ImageViews whole(List<Sample> decoded) {
        return new ImageViews(
                views.stream().map(view -> batch(view, decoded)).toList(), Optional.empty());
    }

    private Batch batch(List<Transform> view, List<Sample> decoded) {
        List<Sample> samples = new ArrayList<>();
        try {
            for (Sample image : decoded) {
                samples.add(
                        Transform.applyAll(
                                view, image.shallowCopy(), SeededRandom.of(0, image.info().id())));
            }
            return Batch.collate(samples, buffers);
        } finally {
            samples.forEach(Sample::close);
        }
    }
}
