package dev.saccade.datasets.classification;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.Lists;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Puts several versions of each image into a batch, augmented independently (Hoffer et al. 2020;
 * DeiT's and timm's {@code RASampler}).
 *
 * <p>An epoch has as many images as the wrapped data set, so it contains only some of the images.
 */
public final class RepeatedAugmentation implements Dataset {

    private static final int MAX_SIZE = 1 << 30;
    private static final String NAME = "repeated_augmentation";

    private final Dataset dataset;
    private final int repeats;

    /** Settings of the wrapped data set, and the number of versions of each image. */
    @Component(NAME)
    public record Config(
            @Default("{type: image_folder}") Dataset.Config dataset, @Default("3") int repeats)
            implements Dataset.Config {

        public Config {
            new Checks().inRange("repeats", repeats, 1, 1000).throwIfAny();
        }

        @Override
        public RepeatedAugmentation open(Path root) {
            return new RepeatedAugmentation(dataset.open(root), repeats);
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            DatasetReport report = dataset.check(root, options);
            return options.targets().hasObjects()
                    ? report.withError(
                            Finding.error(
                                    NAME,
                                    "",
                                    "supports classes of images and label maps, but the model"
                                            + " detects objects; use its data set directly"))
                    : report;
        }

        @Override
        public boolean repeatsImages() {
            return true;
        }

        @Override
        public boolean lacksLabels() {
            return dataset.lacksLabels();
        }

        @Override
        public List<String> knownClasses() {
            return dataset.knownClasses();
        }
    }

    /**
     * Wraps a data set.
     *
     * @throws SaccadeException of kind user, if the versions of all images are too many
     */
    public RepeatedAugmentation(Dataset dataset, int repeats) {
        if ((long) dataset.size() * repeats > MAX_SIZE) {
            throw SaccadeException.user(
                    "%s: %d versions of %d images exceed the limit of %d; lower repeats",
                    NAME, repeats, dataset.size(), MAX_SIZE);
        }
        this.dataset = dataset;
        this.repeats = repeats;
    }

    @Override
    public List<String> classes() {
        return dataset.classes();
    }

    /**
     * {@inheritDoc} Index {@code i} is version {@code i % repeats} of image {@code i / repeats}.
     */
    @Override
    public List<ImageFile> images() {
        List<Integer> indices =
                Lists.transform(
                        ContiguousSet.closedOpen(0, dataset.size() * repeats).asList(),
                        i -> i / repeats);
        return Lists.transform(indices, dataset::image);
    }

    @Override
    public int size() {
        return dataset.size() * repeats;
    }

    @Override
    public ImageFile image(int index) {
        return dataset.image(index / repeats);
    }

    @Override
    public int repetition(int index) {
        return dataset.repetition(index / repeats) * repeats + index % repeats;
    }

    @Override
    public int epochSize() {
        return dataset.epochSize();
    }

    @Override
    public ImmutableIntArray shuffled(SplittableRandom random) {
        ImmutableIntArray order = dataset.shuffled(random);
        return ImmutableIntArray.copyOf(
                IntStream.range(0, epochSize())
                        .map(i -> order.get(i / repeats) * repeats + i % repeats));
    }

    @Override
    public OptionalInt label(int index) {
        return dataset.label(index / repeats);
    }

    @Override
    public LabelMap labels(int index) {
        return dataset.labels(index / repeats);
    }
}
