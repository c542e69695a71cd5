package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.ModelConfig;
import dev.saccade.necks.SequentialNeck;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Common part of all detector cases: features, predictions, losses and gradients. */
final class RecordedDetector {

    static final Tolerance MAPS = Tolerance.ofMax(1e-4);
    private static final Tolerance PIXELS = Tolerance.absolute(0.05);
    private static final Tolerance SCORES = Tolerance.absolute(1e-3);
    private static final Tolerance PROBABILITY = Tolerance.absolute(1e-3);

    private final Case recorded;
    private final DetectionModel detector;
    private final ImageBatch batch;
    private final boolean isBatch;

    /** Loads the detector of a case with a given head. */
    RecordedDetector(Case recorded, DetectionHead.Config head, int numClasses) {
        this.recorded = recorded;
        recorded.settings().describes("train_note");
        Settings model = recorded.settings().object("model");
        model.describes("pretrained");
        detector = detector(model, head, numClasses);
        RecordedWeights.load(recorded, detector);
        detector.train(false);
        isBatch = recorded.settings().has("img_metas");
        List<ImageInfo> images =
                recorded.settings().objects(isBatch ? "img_metas" : "img_meta").stream()
                        .map(RecordedDetector::image)
                        .toList();
        batch = new ImageBatch(recorded.tensor("img"), images);
    }

    /** Returns the array name suffix of an image: its index in a batch. */
    String suffix(int image) {
        return isBatch ? Integer.toString(image) : "";
    }

    private static DetectionModel detector(
            Settings model, DetectionHead.Config head, int numClasses) {
        Settings backbone = model.object("backbone");
        ModelConfig config =
                ModelConfig.detector(
                        BackboneKind.config(backbone.text("type"), backbone),
                        NeckKind.config(model),
                        head);
        DetectionModel detector =
                new DetectionModel(
                        config,
                        IntStream.range(0, numClasses).mapToObj(i -> "class " + i).toList());
        Settings neck = model.objects("neck").get(0);
        neck.only("in_channels", channels(detector.backbone().features()));
        return detector;
    }

    private static List<Integer> channels(List<FeatureInfo> features) {
        return features.stream().map(FeatureInfo::channels).toList();
    }

    /** Skips the case unless the head matches the neck's channels, and its anchors the strides. */
    void checkFits(Settings head) {
        head.only("in_channels", channels());
        head.object("anchor_generator")
                .only("strides", detector.levels().stream().map(FeatureInfo::stride).toList());
    }

    int channels() {
        return channels(detector.levels()).get(0);
    }

    DetectionModel detector() {
        return detector;
    }

    ImageBatch batch() {
        return batch;
    }

    /** Returns the image info from mmdetection's description. */
    static ImageInfo image(Settings meta) {
        meta.describes("flip_direction", "batch_input_shape");
        List<Double> scale = meta.numbers("scale_factor");
        ImageInfo info =
                ImageInfo.of(size(meta.integers("ori_shape")))
                        .resized(
                                size(meta.integers("img_shape")),
                                scale.get(0).floatValue(),
                                scale.get(1).floatValue())
                        .padded(size(meta.integers("pad_shape")));
        return meta.flag("flip", false) ? info.flipHorizontal() : info;
    }

    private static Size size(List<Integer> shape) {
        return new Size(shape.get(0), shape.get(1));
    }

    /** Compares the features and returns the neck's pyramid. */
    FeaturePyramid compareFeatures() {
        FeaturePyramid maps = detector.backbone().apply(batch.pixels());
        for (String name : recorded.names("backbone")) {
            int level = Integer.parseInt(name.substring("backbone".length()));
            recorded.compare(name, maps.get(level), MAPS);
        }
        Neck neck = detector.neck().orElseThrow();
        FeaturePyramid pyramid = neck.apply(maps);
        if (neck instanceof SequentialNeck sequence) {
            compareMaps("fpn", sequence.necks().get(0).apply(maps).levels());
            compareMaps("neck", pyramid.levels());
        } else {
            compareMaps("fpn", pyramid.levels());
        }
        return pyramid;
    }

    /** Compares a map at every level. */
    void compareMaps(String name, List<NDArray> maps) {
        for (int level = 0; level < maps.size(); level++) {
            recorded.compare(name + level, maps.get(level), MAPS);
        }
    }

    /**
     * Compares the detections of an image. They are recorded best first in a batch, else by class
     * and optionally also best first.
     *
     * @return detections in the recorded order
     */
    Instances compareObjects(int image, Instances found) {
        if (isBatch) {
            compareObjects(suffix(image), found);
            return found;
        }
        compareObjects(found);
        return byLabel(found);
    }

    void compareObjects(Instances found) {
        if (recorded.has("dets_ranked")) {
            compareObjects("_ranked", found);
        }
        compareObjects("", byLabel(found));
    }

    private void compareObjects(String suffix, Instances found) {
        recorded.compare("labels" + suffix, NumpyArray.of(found.labels()), Tolerance.EXACT);
        compareBoxes("dets" + suffix, found);
    }

    void compareBoxes(String name, Instances found) {
        NumpyArray expected = recorded.array(name);
        NumpyArray rows = MulticlassNmsKind.rows(found);
        recorded.compare(name + " boxes", expected.columns(0, 4), rows.columns(0, 4), PIXELS);
        recorded.compare(name + " scores", expected.columns(4, 5), rows.columns(4, 5), SCORES);
    }

    /** Compares mask probabilities, {@code [D * S * S]}. */
    void compareProbabilities(String name, float[] drawn) {
        NumpyArray rows = NumpyArray.of(drawn).reshape(recorded.array(name).shape());
        recorded.compare(name, rows, PROBABILITY);
    }

    /** Returns the detections by class. */
    static Instances byLabel(Instances found) {
        return found.select(
                IntStream.range(0, found.size())
                        .boxed()
                        .sorted(Comparator.comparing(found::label))
                        .mapToInt(Integer::intValue)
                        .toArray());
    }

    /** Compares losses, metrics and gradients of one training step on the only image. */
    void compareTraining(Instances targets) {
        compareTraining(() -> detector.losses(batch, List.of(targets)));
    }

    /** Compares losses, metrics and gradients of one training step. */
    void compareTraining(Supplier<Losses> step) {
        batch.pixels().setRequiresGradient(true);
        NDArray total =
                Backward.run(
                        () -> {
                            Losses losses = step.get();
                            compareScalars(losses.terms());
                            compareScalars(losses.metrics());
                            return losses.total();
                        });
        recorded.compare("train_total", total.reshape(1), MAPS);
        Tolerance gradients = Tolerance.parse(recorded.settings().text("grad_tolerance"));
        NDArray thirds = batch.pixels().getGradient().get(":, :, ::3, ::3");
        recorded.compare("grad_img_s3", thirds, gradients);
        Backward.parameters(recorded, detector, gradients);
    }

    private void compareScalars(Map<String, NDArray> scalars) {
        scalars.forEach(
                (name, scalar) -> recorded.compare("train_" + name, scalar.reshape(1), MAPS));
    }
}
