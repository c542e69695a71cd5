package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.models.SegmentationModel;
import dev.saccade.models.segmentation.MeanScoreMap;
import dev.saccade.models.segmentation.ScoreMap;
import dev.saccade.models.segmentation.Tile;

import java.util.ArrayList;
import java.util.List;

/** Pixel probabilities of an image, with and without test-time augmentation. */
final class SegInferenceKind implements Kind {

    private static final double ALLOWED = 1e-4;

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "EncoderDecoder.inference/aug_test");
        SegmentationModel segmenter = SegmenterSettings.load(recorded);
        List<Integer> shape = recorded.settings().integers("ori_shape");
        Size original = new Size(shape.get(0), shape.get(1));
        List<ScoreMap> views = new ArrayList<>();
        for (Settings view : recorded.settings().objects("augs")) {
            int i = views.size();
            NDArray pixels = recorded.tensor("img" + i);
            view.only("h", pixels.getShape().get(2));
            view.only("w", pixels.getShape().get(3));
            views.add(upright(view, segmenter.scores(pixels, original)));
            if (recorded.has("prob" + i)) {
                compare(recorded, "prob" + i, new MeanScoreMap(List.of(views.get(i))), original);
            }
        }
        try (MeanScoreMap mean = new MeanScoreMap(views)) {
            NumpyArray expected = compare(recorded, "prob_mean", mean, original);
            comparePrediction(expected, recorded.array("pred"), mean.labels());
        }
    }

    private static ScoreMap upright(Settings view, ScoreMap scores) {
        view.describes("direction");
        if (!view.flag("flip")) {
            return scores;
        }
        String direction = view.text("direction");
        return switch (direction) {
            case "horizontal" -> scores.flipHorizontally();
            case "vertical" -> scores.flipVertically();
            default -> throw view.refused("direction", "expected horizontal or vertical");
        };
    }

    private static NumpyArray compare(Case recorded, String name, MeanScoreMap mean, Size size) {
        NDArray probabilities = channelsFirst(mean.probabilities(Tile.of(size)));
        recorded.compare(name, probabilities, Tolerance.absolute(ALLOWED));
        return recorded.array(name);
    }

    /** Returns {@code [H, W, K]} as {@code [1, K, H, W]}. */
    static NDArray channelsFirst(NDArray scores) {
        return scores.transpose(2, 0, 1).expandDims(0);
    }

    /** Compares classes except at pixels decided by rounding. */
    private static void comparePrediction(
            NumpyArray probabilities, NumpyArray expected, LabelMap found) {
        int pixels = expected.size();
        int width = found.size().width();
        for (int p = 0; p < pixels; p++) {
            int label = found.get(p / width, p % width);
            int wanted = (int) expected.values()[p];
            double behind =
                    probabilities.values()[wanted * pixels + p]
                            - probabilities.values()[label * pixels + p];
            if (behind >= ALLOWED) {
                assertEquals(wanted, label, "pixel " + p);
            }
        }
    }
}
