package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.parts.Targets;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
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
    private final Targets targets;

    /** Prepares reading of samples with boxes at most. */
    public SampleReader(List<Transform> transforms) {
        this(transforms, Targets.BOXES);
    }

    /**
     * Prepares reading.
     *
     * @param targets what training samples show
     */
    public SampleReader(List<Transform> transforms, Targets targets) {
        this.transforms = ImmutableList.copyOf(transforms);
        this.targets = targets;
    }

    /**
     * Returns a training sample with its targets; masks and labels have the padded size. Its draws
     * are a function of seed, epoch and image id.
     *
     * @throws SaccadeException if the file cannot be used, has another size than declared, or what
     *     is learned is missing or faulty; names image id and file
     */
    public Sample trainingSample(Dataset dataset, int index, long seed, int epoch) {
        Photo photo = dataset.photo(index);
        return describingFailure(
                photo,
                () ->
                        transform(
                                read(dataset, index, photo),
                                SeededRandom.of(seed, epoch, photo.id())));
    }

    private Sample read(Dataset dataset, int index, Photo photo) {
        if (targets == Targets.LABEL_MAPS) {
            LabelMap labels = dataset.labels(index);
            return Sample.of(decode(photo), info(photo), labels);
        }
        List<Annotation> annotations = dataset.annotations(index);
        Instances objects =
                targets == Targets.MASKS
                        ? TrainingTargets.masks(photo, annotations)
                        : TrainingTargets.boxes(photo, annotations);
        return Sample.of(decode(photo), info(photo), objects);
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
