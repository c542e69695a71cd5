package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.PixelFile;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.image.Window;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;

import org.opencv.core.Mat;
import org.opencv.core.Rect;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Decodes images and applies the transforms of each test-time augmentation; thread-safe. */
public final class InferenceReader {

    private final ImmutableList<List<Transform>> pipelines;
    private final Optional<Tiles> tiles;
    private final ImageDecoder decoder;
    private final BufferPool buffers = new BufferPool();

    /**
     * Creates a reader of 8-bit RGB images that does not split images into tiles.
     *
     * @param pipelines transforms of each augmentation; see {@link
     *     dev.saccade.datasets.transforms.TestTimeAugmentation#pipelines}
     */
    public InferenceReader(List<List<Transform>> pipelines) {
        this(pipelines, PixelFormat.RGB);
    }

    /** Creates a reader of images of a format, which does not split images into tiles. */
    public InferenceReader(List<List<Transform>> pipelines, PixelFormat pixels) {
        this(pipelines, Optional.empty(), pixels);
    }

    /**
     * Creates a reader.
     *
     * @param pipelines transforms of each augmentation, applied to the image or to each tile
     * @param tiles how to split images larger than a tile; if empty, images are not split
     * @param pixels channels and values of the images
     */
    public InferenceReader(
            List<List<Transform>> pipelines, Optional<Tiles> tiles, PixelFormat pixels) {
        checkArgument(!pipelines.isEmpty(), "pipelines: got none, expected at least one");
        this.pipelines = ImmutableList.copyOf(pipelines);
        this.tiles = tiles;
        this.decoder = new ImageDecoder(pixels);
    }

    /**
     * Reads one image of a data set.
     *
     * @throws SaccadeException if the file cannot be used or has another size than declared; names
     *     image id and file
     */
    public InferenceInput read(Dataset dataset, int index) {
        ImageFile image = dataset.image(index);
        return ImageDecoder.describingFailure(
                image,
                () -> {
                    try (Sample decoded = decoder.read(image)) {
                        return input(List.of(decoded));
                    }
                });
    }

    /**
     * Reads images as one batch; only a single image is split into tiles.
     *
     * @throws SaccadeException if an image cannot be used; names the image
     */
    public InferenceInput read(List<ImageSource> images) {
        Optional<InferenceInput> windows = windows(images);
        if (windows.isPresent()) {
            return windows.get();
        }
        List<Sample> decoded = new ArrayList<>();
        try {
            images.forEach(image -> decoded.add(decoder.read(image)));
            return input(decoded);
        } finally {
            decoded.forEach(Sample::close);
        }
    }

    /** Returns an image whose tiles are read from its file one by one, if possible. */
    private Optional<InferenceInput> windows(List<ImageSource> images) {
        if (images.size() > 1 || tiles.isEmpty() || tiles.get().whole()) {
            return Optional.empty();
        }
        ImageSource image = images.get(0);
        return image.open(decoder.pixels()).flatMap(file -> windows(image.name(), file));
    }

    private Optional<InferenceInput> windows(String name, PixelFile file) {
        Size size = file.size();
        List<Tile> parts;
        try {
            parts = tiles.orElseThrow().of(size);
        } catch (SaccadeException e) {
            file.close();
            throw e;
        }
        if (parts.size() == 1) {
            file.close();
            return Optional.empty();
        }
        TiledImage tiled =
                new TiledImage(
                        size,
                        tile -> file.read(window(tile)),
                        ImageInfo.of(0, name, size),
                        parts,
                        tile -> whole(List.of(tile)),
                        file::close);
        return Optional.of(new InferenceInput(List.of(), Optional.of(tiled)));
    }

    private static Window window(Tile tile) {
        return new Window(tile.left(), tile.top(), tile.size().width(), tile.size().height());
    }

    private InferenceInput input(List<Sample> decoded) {
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
        return new InferenceInput(
                batches,
                Optional.of(
                        new TiledImage(
                                image.info().size(),
                                tile -> part(pixels, tile),
                                image.info(),
                                parts,
                                tile -> whole(List.of(tile)),
                                pixels::release)));
    }

    private static Mat part(Mat pixels, Tile tile) {
        Size size = tile.size();
        return pixels.submat(new Rect(tile.left(), tile.top(), size.width(), size.height()));
    }

    private InferenceInput whole(List<Sample> decoded) {
        return new InferenceInput(
                pipelines.stream().map(each -> batch(each, decoded)).toList(), Optional.empty());
    }

    private Batch batch(List<Transform> pipeline, List<Sample> decoded) {
        List<Sample> samples = new ArrayList<>();
        try {
            for (Sample image : decoded) {
                samples.add(
                        Transform.applyAll(
                                pipeline,
                                image.shallowCopy(),
                                SeededRandom.of(0, image.info().id())));
            }
            return Batch.collate(samples, buffers);
        } finally {
            samples.forEach(Sample::close);
        }
    }
}
