package dev.saccade.datasets.loader;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Photo;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.TrainingTargets;
import dev.saccade.datasets.Transform;

import java.util.List;

/**
 * Decodes a photograph with what it shows and sends both through the transforms, for training.
 *
 * <p>Safe for use by many threads.
 */
public final class SampleReader {

    private final ImmutableList<Transform> transforms;
    private final TargetKind targets;

    /**
     * Prepares reading.
     *
     * @param targets what samples show
     */
    public SampleReader(List<Transform> transforms, TargetKind targets) {
        this.transforms = ImmutableList.copyOf(transforms);
        this.targets = targets;
    }

    /**
     * Returns a sample with its targets; masks and labels have the padded size. Its draws are a
     * function of seed, epoch and image id.
     *
     * @throws SaccadeException if the file cannot be used, has another size than declared, or what
     *     is learned is missing or faulty; names image id and file
     */
    public Sample trainingSample(Dataset dataset, int index, long seed, int epoch) {
        Photo photo = dataset.photo(index);
        return PhotoReader.describingFailure(
                photo,
                () ->
                        Transform.applyAll(
                                transforms,
                                read(dataset, index, photo),
                                SeededRandom.of(seed, epoch, photo.id())));
    }

    private Sample read(Dataset dataset, int index, Photo photo) {
        Instances objects =
                targets.hasObjects()
                        ? objects(photo, dataset.annotations(index))
                        : Instances.empty();
        if (!targets.hasLabelMaps()) {
            return Sample.of(PhotoReader.decode(photo), PhotoReader.info(photo), objects);
        }
        LabelMap labels = dataset.labels(index);
        return Sample.of(PhotoReader.decode(photo), PhotoReader.info(photo), objects, labels);
    }

    private Instances objects(Photo photo, List<Annotation> annotations) {
        return targets.hasMasks()
                ? TrainingTargets.masks(photo, annotations)
                : TrainingTargets.boxes(photo, annotations);
    }
}
