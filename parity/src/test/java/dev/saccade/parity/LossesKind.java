package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.ImmutableMap;

import dev.saccade.heads.BoxLosses;
import dev.saccade.heads.ClassificationLosses;
import dev.saccade.heads.FocalLoss;

import org.opentest4j.TestAbortedException;

import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Values of the losses of detectors and their gradients by the prediction. */
final class LossesKind implements Kind {

    private static final Tolerance VALUE = new Tolerance(0, 0, 1e-5);
    private static final Tolerance GRADIENT = new Tolerance(0, 1e-4, 1e-4);

    /** The two losses that were recorded with a {@code loss_weight}, which no key tells. */
    private static final ImmutableMap<String, Float> LOSS_WEIGHT =
            ImmutableMap.of("giouloss", 10f, "smooth_l1_b9", 2f);

    private static final Pattern SMOOTH_L1 = Pattern.compile("smooth_l1_b(\\d+)");
    private static final Pattern FOCAL = Pattern.compile("focal_g(\\d\\d)_a(\\d\\d)");

    @Override
    public void run(Case recorded) {
        int numClasses = recorded.settings().integer("num_classes");
        recorded.compare(
                "num_classes",
                NumpyArray.of(numClasses),
                NumpyArray.of(recorded.array("cls_logits").size(1)),
                Tolerance.EXACT);
        for (String value : recorded.names("value_")) {
            loss(recorded, value.substring("value_".length()));
        }
    }

    private static void loss(Case recorded, String name) {
        Matcher smooth = SMOOTH_L1.matcher(name);
        Matcher focal = FOCAL.matcher(name);
        if (smooth.matches()) {
            // b9 is the 1/9 of region proposals.
            float beta = 1 / Float.parseFloat(smooth.group(1));
            compare(
                    recorded,
                    name,
                    "pred",
                    pred ->
                            BoxLosses.smoothL1(
                                    pred, of(recorded, "target"), weights(recorded), beta));
        } else if (focal.matches()) {
            focal(
                    recorded,
                    name,
                    Double.parseDouble(focal.group(1)) / 10,
                    Double.parseDouble(focal.group(2)) / 10);
        } else {
            named(recorded, name);
        }
    }

    private static void named(Case recorded, String name) {
        switch (name) {
            case "l1" ->
                    compare(
                            recorded,
                            name,
                            "pred",
                            pred -> BoxLosses.l1(pred, of(recorded, "target"), weights(recorded)));
            case "iouloss" -> boxes(recorded, name, BoxLosses::iou);
            case "giouloss" -> boxes(recorded, name, BoxLosses::giou);
            case "diouloss" -> boxes(recorded, name, BoxLosses::diou);
            case "ciouloss" -> boxes(recorded, name, BoxLosses::ciou);
            case "focal" -> focal(recorded, name, 2, 0.25);
            case "bce" -> labelled(recorded, name, "cls_logits", "labels");
            case "bce_rpn" -> labelled(recorded, name, "rpn_logits", "rpn_labels");
            case "ce" ->
                    compare(
                            recorded,
                            name,
                            "softmax_logits",
                            logits ->
                                    ClassificationLosses.softmax(
                                            logits,
                                            labels(recorded, "labels"),
                                            of(recorded, "label_weights")));
            case "mask" -> mask(recorded, name);
            default -> throw new TestAbortedException("nothing is built for the loss " + name);
        }
    }

    /** A loss between predicted boxes, boxes to predict and one weight a box. */
    @FunctionalInterface
    private interface BoxLoss {
        NDArray sum(NDArray pred, NDArray target, NDArray weight);
    }

    private static void boxes(Case recorded, String name, BoxLoss loss) {
        compare(
                recorded,
                name,
                "pred_boxes",
                pred ->
                        loss.sum(
                                pred,
                                of(recorded, "target_boxes"),
                                of(recorded, "weight_boxes").mean(new int[] {1})));
    }

    private static void focal(Case recorded, String name, double gamma, double alpha) {
        compare(
                recorded,
                name,
                "cls_logits",
                logits ->
                        new FocalLoss(gamma, alpha)
                                .sum(
                                        logits,
                                        labels(recorded, "labels").toType(DataType.INT32, false),
                                        of(recorded, "label_weights")));
    }

    private static void labelled(Case recorded, String name, String logits, String labels) {
        compare(
                recorded,
                name,
                logits,
                pred ->
                        ClassificationLosses.sigmoid(
                                pred, labels(recorded, labels), of(recorded, "label_weights")));
    }

    private static void mask(Case recorded, String name) {
        // The mean over pixels; avg_factor does not apply.
        float boxes = (float) recorded.settings().number("avg_factor");
        compare(
                recorded,
                name,
                "mask_logits",
                logits ->
                        ClassificationLosses.mask(
                                        logits,
                                        of(recorded, "mask_targets"),
                                        labels(recorded, "mask_labels"))
                                .mul(boxes));
    }

    /** Compares a sum of losses over the recorded number of boxes, and its gradient. */
    private static void compare(
            Case recorded, String name, String input, UnaryOperator<NDArray> sum) {
        float boxes = (float) recorded.settings().number("avg_factor");
        float weight = LOSS_WEIGHT.getOrDefault(name, 1f);
        NDArray prediction = of(recorded, input);
        prediction.setRequiresGradient(true);
        NDArray value = Backward.run(() -> sum.apply(prediction).mul(weight).div(boxes));
        recorded.compare("value_" + name, value.reshape(1), VALUE);
        recorded.compare("grad_" + name, prediction.getGradient(), GRADIENT);
    }

    private static NDArray of(Case recorded, String name) {
        return recorded.tensor(name);
    }

    private static NDArray weights(Case recorded) {
        return recorded.tensor("weight");
    }

    private static NDArray labels(Case recorded, String name) {
        return recorded.tensor(name).toType(DataType.INT64, false);
    }
}
