package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Photo;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;

import java.util.ArrayList;
import java.util.List;

/**
 * Decodes photographs, once each, and makes views of them, for test time.
 *
 * <p>Safe for use by many threads.
 */
public final class ViewReader {

    private final ImmutableList<List<Transform>> views;
    private final BufferPool buffers = new BufferPool();

    /**
     * Prepares reading.
     *
     * @param views what is done to a photograph in each view, such as {@link
     *     dev.saccade.datasets.transforms.TestTimeAugmentation#views} says
     */
    public ViewReader(List<List<Transform>> views) {
        checkArgument(!views.isEmpty(), "views: at least one expected, got none");
        this.views = ImmutableList.copyOf(views);
    }

    /**
     * Returns one photograph of a data set.
     *
     * @throws SaccadeException if the file cannot be used or has another size than declared; names
     *     image id and file
     */
    public PhotoViews read(Dataset dataset, int index) {
        Photo photo = dataset.photo(index);
        return PhotoReader.describingFailure(
                photo,
                () -> {
                    try (Sample decoded = PhotoReader.read(photo)) {
                        return views(List.of(decoded));
                    }
                });
    }

    /**
     * Returns loose photographs, together.
     *
     * @throws SaccadeException if one cannot be used; names it
     */
    public PhotoViews read(List<ImageSource> photos) {
        List<Sample> decoded = new ArrayList<>();
        try {
            photos.forEach(photo -> decoded.add(PhotoReader.read(photo)));
            return views(decoded);
        } finally {
            decoded.forEach(Sample::close);
        }
    }

    private PhotoViews views(List<Sample> decoded) {
        return new PhotoViews(views.stream().map(view -> batch(view, decoded)).toList());
    }

    private Batch batch(List<Transform> view, List<Sample> decoded) {
        List<Sample> samples = new ArrayList<>();
        try {
            for (Sample photo : decoded) {
                samples.add(
                        Transform.applyAll(
                                view, photo.share(), SeededRandom.of(0, photo.info().id())));
            }
            return Batch.collate(samples, buffers);
        } finally {
            samples.forEach(Sample::close);
        }
    }
}
