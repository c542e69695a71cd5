package dev.saccade.train.config;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.transforms.NamedAugmentations;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Data sets, transforms and batches of a run.
 *
 * @param root folder of the data; data set paths are relative to it
 * @param train training set; may be missing if a program provides the data
 * @param val validation set; without it, the model is not evaluated
 * @param size image size for transforms that do not set one; see {@link #trainTransformsAtSize()}
 * @param pixels channels and values of the images
 * @param batchAugments steps on training batches after the transforms, such as mixup; for
 *     classifiers
 * @param numLastEpochs at the end of training, number of epochs without the transforms of {@code
 *     skip_type_keys}, like mmdetection's {@code YOLOXModeSwitchHook}, which starts one epoch
 *     earlier
 * @param skipTypeKeys types of training transforms to skip in the last epochs; transforms inside of
 *     {@code random_choice} are not skipped
 * @param valTransforms also used for predictions
 * @param tta test-time augmentations, for {@code saccade eval} and predictions; evaluations during
 *     training use none
 * @param batchSize images per forward pass and rank in training
 * @param workers threads that read images ahead; they do not affect results
 */
public record DataConfig(
        @Default(".") Path root,
        Optional<Dataset.Config> train,
        Optional<Dataset.Config> val,
        @Unwrapped InputSize size,
        @Unwrapped PixelFormat pixels,
        @Default("[{type: resize}, {type: random_flip}, {type: normalize}, {type: pad}]")
                List<Transform> trainTransforms,
        @Default("[]") List<BatchAugment> batchAugments,
        @Default("0") int numLastEpochs,
        @Default("[mosaic, random_affine, mixup]") List<String> skipTypeKeys,
        @Default(Transform.FOR_PREDICTION) List<Transform> valTransforms,
        @Unwrapped NamedAugmentations tta,
        @Default("2") int batchSize,
        @Default("2") int workers) {

    public DataConfig {
        trainTransforms = List.copyOf(trainTransforms);
        batchAugments = List.copyOf(batchAugments);
        skipTypeKeys = List.copyOf(skipTypeKeys);
        valTransforms = List.copyOf(valTransforms);
        new Checks()
                .size("train_transforms", trainTransforms, 0, 100)
                .size("batch_augments", batchAugments, 0, 100)
                .inRange("num_last_epochs", numLastEpochs, 0, 1_000_000)
                .size("skip_type_keys", skipTypeKeys, 0, 100)
                .size("val_transforms", valTransforms, 0, 100)
                .inRange("batch_size", batchSize, 1, 10_000)
                .inRange("workers", workers, 1, 1000)
                .throwIfAny();
        // Unlabeled objects would be trained as background.
        Checks.require(
                train.filter(Dataset.Config::lacksLabels).isEmpty(),
                "train",
                train.map(ComponentConfig::type).orElse(""),
                "a data set with labels of all classes; partially_labeled is for data.val");
        // Repeated images would distort the metrics.
        Checks.require(
                val.filter(Dataset.Config::repeatsImages).isEmpty(),
                "val",
                val.map(ComponentConfig::type).orElse(""),
                "a data set without repeated images; repetition is for data.train");
        size.applyTo(trainTransforms);
        checkOrder("train_transforms", trainTransforms);
        checkOrder("val_transforms", valTransforms);
        checkReduction("train_transforms", trainTransforms, 1);
        checkReduction("val_transforms", valTransforms, 0);
        checkPixels("train_transforms", trainTransforms, pixels);
        checkPixels("val_transforms", valTransforms, pixels);
        checkSkipped(trainTransforms, numLastEpochs, skipTypeKeys);
        checkNoMixing(valTransforms);
        tta.requireFor(size.uncropped().applyTo(valTransforms));
    }

    /** Returns the training transforms with their final sizes. */
    public List<Transform> trainTransformsAtSize() {
        return size.applyTo(trainTransforms);
    }

    /** Returns the training transforms of the last epochs, with their final sizes. */
    List<Transform> lastTransformsAtSize() {
        return trainTransformsAtSize().stream()
                .filter(transform -> !skipTypeKeys.contains(transform.type()))
                .toList();
    }

    /** Returns the validation transforms with their final sizes. */
    public List<Transform> valTransformsAtSize() {
        return size.uncropped().applyTo(valTransforms);
    }

    /** Returns the training set. Fails if the config has none. */
    public Dataset.Config requireTrain() {
        return train.orElseThrow(
                () ->
                        SaccadeException.user(
                                "config: data.train: missing; expected the training set,"
                                        + " such as {type: coco, annotations: train.json, images:"
                                        + " images}"));
    }

    private static void checkOrder(String key, List<Transform> transforms) {
        for (int i = 1; i < transforms.size(); i++) {
            Transform before = transforms.get(i - 1);
            Transform step = transforms.get(i);
            Checks.require(
                    step.mustBeLast() || !before.mustBeLast(),
                    key + "[" + i + "]",
                    step.type() + " after " + before.type(),
                    "the opposite order: normalize and pad must come last");
        }
    }

    private static void checkPixels(String key, List<Transform> transforms, PixelFormat pixels) {
        for (int i = 0; i < transforms.size(); i++) {
            Optional<String> fault = transforms.get(i).incompatibility(pixels);
            checkArgument(fault.isEmpty(), "%s[%s]: %s", key, i, fault.orElse(""));
        }
    }

    /** Images are decoded at a reduced size only for the first transform of training. */
    private static void checkReduction(String key, List<Transform> transforms, int start) {
        for (int i = start; i < transforms.size(); i++) {
            Transform step = transforms.get(i);
            Checks.require(
                    !step.mustBeFirst(),
                    key + "[" + i + "]",
                    step.type() + " with reduced_decoding",
                    "reduced_decoding only in the first of train_transforms");
        }
    }

    private static void checkSkipped(
            List<Transform> transforms, int numLastEpochs, List<String> skipTypeKeys) {
        List<String> types = transforms.stream().map(ComponentConfig::type).toList();
        Checks.require(
                numLastEpochs == 0 || types.stream().anyMatch(skipTypeKeys::contains),
                "skip_type_keys",
                skipTypeKeys,
                "at least one type of train_transforms: %s",
                types);
    }

    private static void checkNoMixing(List<Transform> transforms) {
        List<String> mixing =
                transforms.stream()
                        .filter(Transform::needsOtherSamples)
                        .map(ComponentConfig::type)
                        .toList();
        Checks.require(
                mixing.isEmpty(),
                "val_transforms",
                mixing,
                "transforms of a single image; mixing images is possible only in training");
    }
}
