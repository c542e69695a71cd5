package dev.saccade.datasets.loader;

import com.google.common.base.Suppliers;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.SamplePool;
import dev.saccade.datasets.TrainingTargets;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** Reads images with their targets and applies the transforms, for training. Thread-safe. */
public final class SampleReader {

    private final Dataset dataset;
    private final IntFunction<List<Transform>> transforms;
    private final TargetKind targets;
    private final ImageDecoder decoder;
    private final Supplier<ImmutableIntArray> trained;

    /** Creates a reader of 8-bit RGB images. */
    public SampleReader(Dataset dataset, List<Transform> transforms, TargetKind targets) {
        this(dataset, always(transforms), targets, PixelFormat.RGB);
    }

    /** Creates a reader of 8-bit RGB images whose transforms depend on the epoch. */
    public SampleReader(
            Dataset dataset, IntFunction<List<Transform>> transforms, TargetKind targets) {
        this(dataset, transforms, targets, PixelFormat.RGB);
    }

    /**
     * Creates a reader whose transforms depend on the epoch.
     *
     * @param transforms the transforms of an epoch, counted from 0
     * @param pixels channels and values of the images
     */
    public SampleReader(
            Dataset dataset,
            IntFunction<List<Transform>> transforms,
            TargetKind targets,
            PixelFormat pixels) {
        this.dataset = dataset;
        this.decoder = new ImageDecoder(pixels);
        this.transforms = transforms;
        this.targets = targets;
        // Scanning all images is slow, and most transforms need no other samples.
        this.trained = Suppliers.memoize(() -> Sampler.trained(dataset, targets));
    }

    static IntFunction<List<Transform>> always(List<Transform> transforms) {
        List<Transform> copy = List.copyOf(transforms);
        return epoch -> copy;
    }

    /**
     * Returns a transformed sample with its targets; masks and label maps have the padded size.
     * Random numbers depend only on seed, epoch, image id and {@linkplain Dataset#repetition
     * repetition}, including the choice of other samples.
     *
     * @throws SaccadeException if a file is unusable, has another size than declared, or its
     *     targets are missing or invalid; names image id and file
     */
    public Sample trainingSample(int index, long seed, int epoch) {
        ImageFile image = dataset.image(index);
        int repetition = dataset.repetition(index);
        Supplier<SplittableRandom> random =
                () ->
                        repetition == 0
                                ? SeededRandom.of(seed, epoch, image.id())
                                : SeededRandom.of(seed, epoch, image.id(), repetition);
        List<Transform> steps = transforms.apply(epoch);
        return ImageDecoder.describingFailure(
                image,
                () -> {
                    int reduction =
                            steps.isEmpty()
                                    ? 1
                                    : steps.get(0).reduction(image.size(), random.get());
                    return transformed(read(index, reduction), steps, random.get());
                });
    }

    private Sample transformed(Sample read, List<Transform> steps, SplittableRandom random) {
        Sample sample = Transform.applyAll(steps, read, this::sampleAny, random);
        if (!sample.rejected()) {
            return sample;
        }
        sample.close();
        SamplePool others = this::sampleAny;
        return others.after(steps).sample(random);
    }

    private Sample sampleAny(SplittableRandom random) {
        ImmutableIntArray positions = trained.get();
        if (positions.isEmpty()) {
            throw SaccadeException.user(
                    "no other image to sample: %s",
                    ObjectStatistics.emptyReason(dataset.size(), dataset.classes()));
        }
        int index = positions.get(random.nextInt(positions.length()));
        return ImageDecoder.describingFailure(dataset.image(index), () -> read(index, 1));
    }

    /** Reads an image and its targets; only images with a class are reduced. */
    private Sample read(int index, int reduction) {
        ImageFile image = dataset.image(index);
        Instances objects =
                targets.hasObjects()
                        ? objects(image, dataset.annotations(index))
                        : Instances.empty();
        if (targets == TargetKind.CLASSES) {
            return decoder.read(image, label(image, dataset.label(index)), reduction);
        }
        if (!targets.hasLabelMaps()) {
            return Sample.of(decoder.decode(image), ImageDecoder.info(image), objects);
        }
        LabelMap labels = dataset.labels(index);
        return Sample.of(decoder.decode(image), ImageDecoder.info(image), objects, labels);
    }

    private static int label(ImageFile image, OptionalInt label) {
        return label.orElseThrow(
                () ->
                        SaccadeException.user(
                                "%s: the image has no class; train a detector or a segmenter, or use"
                                        + " a data set such as image_folder",
                                image.file()));
    }

    private Instances objects(ImageFile image, List<Annotation> annotations) {
        return targets.hasMasks()
                ? TrainingTargets.masks(image, annotations)
                : TrainingTargets.boxes(image, annotations);
    }
}
