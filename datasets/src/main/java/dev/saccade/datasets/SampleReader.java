package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;

import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Decodes a photograph and sends it through the transforms.
 *
 * <p>Safe for use by many threads.
 */
public final class SampleReader {

    private final ImmutableList<Transform> transforms;
    private final boolean masks;

    /** Prepares reading of samples without masks. */
    public SampleReader(List<Transform> transforms) {
        this(transforms, false);
    }

    /**
     * Prepares reading.
     *
     * @param masks whether training samples have the masks of their objects
     */
    public SampleReader(List<Transform> transforms, boolean masks) {
        this.transforms = ImmutableList.copyOf(transforms);
        this.masks = masks;
    }

    /**
     * Returns a training sample with its targets, whose masks have the padded size; its draws are a
     * function of seed, epoch and image id.
     *
     * @throws SaccadeException if the file cannot be used, has another size than declared, or an
     *     object lacks the outline of its mask; names image id and file
     */
    public Sample trainingSample(Dataset dataset, int index, long seed, int epoch) {
        Photo photo = dataset.photo(index);
        return describingFailure(
                photo,
                () -> {
                    Instances targets = targets(photo, dataset.annotations(index));
                    return transform(
                            Sample.of(decode(photo), info(photo), targets),
                            SeededRandom.of(seed, epoch, photo.id()));
                });
    }

    private Instances targets(Photo photo, List<Annotation> annotations) {
        return masks
                ? TrainingTargets.masks(photo, annotations)
                : TrainingTargets.boxes(photo, annotations);
    }

    /** Returns a sample without targets, as for evaluation. */
    public Sample testSample(Dataset dataset, int index) {
        Photo photo = dataset.photo(index);
        return describingFailure(
                photo,
                () ->
                        transform(
                                Sample.of(decode(photo), info(photo), Instances.empty()),
                                SeededRandom.of(0, photo.id())));
    }

    /**
     * Returns the sample of a loose file.
     *
     * @throws SaccadeException if the file cannot be used; names it
     */
    public Sample testSample(Path file) {
        Mat image = ImageReader.read(file);
        Photo photo = new Photo(0, file, new Size(image.rows(), image.cols()));
        return transform(Sample.of(image, info(photo), Instances.empty()), SeededRandom.of(0));
    }

    private Sample transform(Sample sample, SplittableRandom random) {
        Sample changed = sample;
        try {
            for (Transform transform : transforms) {
                changed = transform.apply(changed, random);
            }
            return changed;
        } catch (RuntimeException e) {
            changed.close();
            throw e;
        }
    }

    private static Mat decode(Photo photo) {
        Mat image = ImageReader.read(photo.file());
        Size size = new Size(image.rows(), image.cols());
        if (!size.equals(photo.size())) {
            image.release();
            throw SaccadeException.user(
                    "%s: is %s (height x width, turned upright), but declared as %s",
                    photo.file(), size, photo.size());
        }
        return image;
    }

    private static ImageInfo info(Photo photo) {
        return new ImageInfo(
                photo.id(),
                photo.file().toString(),
                photo.size(),
                photo.size(),
                photo.size(),
                1,
                1,
                false);
    }

    private static Sample describingFailure(Photo photo, Supplier<Sample> reading) {
        try {
            return reading.get();
        } catch (SaccadeException e) {
            throw switch (e.kind()) {
                case USER -> SaccadeException.user("image %d: %s", photo.id(), e.getMessage());
                case IO -> SaccadeException.io(e, "image %d: %s", photo.id(), e.getMessage());
                case INTERNAL -> e;
            };
        } catch (RuntimeException e) {
            throw SaccadeException.internal(
                    e, "image %d: %s: %s", photo.id(), photo.file(), e.getMessage());
        }
    }
}
