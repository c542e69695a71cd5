package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.models.SegmentationModel;
import dev.saccade.models.segmentation.ScoreMap;
import dev.saccade.models.segmentation.Tile;

import java.util.Arrays;
import java.util.Collections;
import java.util.Map;

/** A complete segmenter: features, logits, losses and gradients. */
final class SegmenterKind implements Kind {

    private static final int IGNORED = 255;

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "EncoderDecoder");
        SegmentationModel segmenter = SegmenterSettings.load(recorded);
        NDArray images = recorded.tensor("img");
        compareMaps(recorded, segmenter, images);
        compareTraining(recorded, segmenter, images);
    }

    private static void compareMaps(Case recorded, SegmentationModel segmenter, NDArray images) {
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        FeaturePyramid pyramid = segmenter.features(images);
        for (int level = 0; level < pyramid.size(); level++) {
            recorded.compare("feat" + level, pyramid.get(level), stated);
        }
        recorded.compare("logits", segmenter.decodeHead().logits(pyramid), stated);
        segmenter
                .auxiliaryHead()
                .ifPresent(head -> recorded.compare("aux", head.logits(pyramid), stated));
        Size size = size(images);
        try (ScoreMap scores = segmenter.scores(images.get("0:1"), size)) {
            NDArray full = NoGrad.call(() -> scores.part(Tile.of(size)));
            recorded.compare("full", SegInferenceKind.channelsFirst(full), stated);
        }
    }

    private static Size size(NDArray images) {
        return new Size((int) images.getShape().get(2), (int) images.getShape().get(3));
    }

    private static void compareTraining(
            Case recorded, SegmentationModel segmenter, NDArray images) {
        int count = (int) images.getShape().get(0);
        ImageInfo each = ImageInfo.of(size(images));
        ImageBatch batch = new ImageBatch(images, Collections.nCopies(count, each));
        NDArray labels = labels(recorded);
        images.setRequiresGradient(true);
        NDArray total =
                Backward.run(
                        () -> {
                            Losses losses = segmenter.losses(batch, labels);
                            compareScalars(recorded, losses.terms());
                            compareScalars(recorded, losses.metrics());
                            return losses.total();
                        });
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        recorded.compare("train_total", total.reshape(1), stated);
        Tolerance gradients = Tolerance.parse(recorded.settings().text("grad_tolerance"));
        NDArray halves = images.getGradient().get(":, :, ::2, ::2");
        recorded.compare("grad_img_s2", halves, gradients);
        Backward.parameters(recorded, segmenter, gradients);
    }

    private static NDArray labels(Case recorded) {
        NumpyArray truth = recorded.array("gt");
        long[] labels =
                Arrays.stream(truth.ints())
                        .mapToLong(label -> label == IGNORED ? LabelMap.IGNORE : label)
                        .toArray();
        return recorded.manager()
                .create(labels, new Shape(truth.size(0), truth.size(2), truth.size(3)));
    }

    private static void compareScalars(Case recorded, Map<String, NDArray> scalars) {
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        scalars.forEach(
                (name, scalar) -> recorded.compare("train_" + name, scalar.reshape(1), stated));
    }
}
