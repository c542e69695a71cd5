package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.Configs;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;
import dev.saccade.heads.loss.CrossEntropyLoss;
import dev.saccade.heads.loss.FocalLoss;
import dev.saccade.heads.loss.L1Loss;
import dev.saccade.heads.loss.MaskCrossEntropy;
import dev.saccade.heads.loss.OverlapLoss.CiouLoss;
import dev.saccade.heads.loss.OverlapLoss.DiouLoss;
import dev.saccade.heads.loss.OverlapLoss.GiouLoss;
import dev.saccade.heads.loss.OverlapLoss.IouLoss;
import dev.saccade.heads.loss.SmoothL1Loss;

import org.opentest4j.TestAbortedException;

import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Losses of detectors and their gradients. */
final class LossesKind implements Kind {

    private static final Tolerance VALUE = new Tolerance(0, 0, 1e-5);
    private static final Tolerance GRADIENT = new Tolerance(0, 1e-4, 1e-4);

    /** The two losses recorded with a {@code loss_weight} that is not in the settings. */
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
            // b9 is the 1/9 of the RPN.
            boxes(recorded, name, new SmoothL1Loss(1 / Double.parseDouble(smooth.group(1)), 1));
        } else if (focal.matches()) {
            double gamma = Double.parseDouble(focal.group(1)) / 10;
            double alpha = Double.parseDouble(focal.group(2)) / 10;
            classes(recorded, name, "cls_logits", "labels", new FocalLoss(gamma, alpha, 1));
        } else {
            named(recorded, name);
        }
    }

    private static void named(Case recorded, String name) {
        ClassificationLoss sigmoid = new CrossEntropyLoss(true, 1);
        switch (name) {
            case "l1" -> boxes(recorded, name, Configs.of(L1Loss.class));
            case "iouloss" -> boxes(recorded, name, Configs.of(IouLoss.class));
            case "giouloss" -> boxes(recorded, name, Configs.of(GiouLoss.class));
            case "diouloss" -> boxes(recorded, name, Configs.of(DiouLoss.class));
            case "ciouloss" -> boxes(recorded, name, Configs.of(CiouLoss.class));
            case "focal" ->
                    classes(recorded, name, "cls_logits", "labels", Configs.of(FocalLoss.class));
            case "bce" -> classes(recorded, name, "cls_logits", "labels", sigmoid);
            case "bce_rpn" -> classes(recorded, name, "rpn_logits", "rpn_labels", sigmoid);
            case "ce" ->
                    classes(
                            recorded,
                            name,
                            "softmax_logits",
                            "labels",
                            Configs.of(CrossEntropyLoss.class));
            case "mask" -> mask(recorded, name);
            default -> throw new TestAbortedException("nothing is built for the loss " + name);
        }
    }

    /** IoU losses were recorded on boxes, the others on plain values. */
    private static void boxes(Case recorded, String name, BoxLoss loss) {
        String ofBoxes = name.endsWith("iouloss") ? "_boxes" : "";
        compare(
                recorded,
                name,
                "pred" + ofBoxes,
                pred ->
                        loss.sum(
                                pred,
                                recorded.tensor("target" + ofBoxes),
                                recorded.tensor("weight" + ofBoxes)));
    }

    private static void classes(
            Case recorded, String name, String logits, String labels, ClassificationLoss loss) {
        compare(
                recorded,
                name,
                logits,
                pred ->
                        loss.sum(
                                pred,
                                recorded.tensor(labels).toType(DataType.INT32, false),
                                recorded.tensor("label_weights")));
    }

    private static void mask(Case recorded, String name) {
        compare(
                recorded,
                name,
                "mask_logits",
                logits -> {
                    NDArray targets = recorded.tensor("mask_targets");
                    // The original averages over pixels; avg_factor does not apply.
                    float pixels =
                            targets.size() / (float) recorded.settings().number("avg_factor");
                    return new MaskCrossEntropy(1)
                            .sum(
                                    logits,
                                    targets,
                                    labels(recorded, "mask_labels"),
                                    targets.getManager().ones(new Shape(targets.size(0))))
                            .div(pixels);
                });
    }

    /** Compares the sum of losses divided by the recorded number of boxes, and its gradient. */
    private static void compare(
            Case recorded, String name, String input, UnaryOperator<NDArray> sum) {
        float boxes = (float) recorded.settings().number("avg_factor");
        float weight = LOSS_WEIGHT.getOrDefault(name, 1f);
        NDArray prediction = recorded.tensor(input);
        prediction.setRequiresGradient(true);
        NDArray value = Backward.run(() -> sum.apply(prediction).mul(weight).div(boxes));
        recorded.compare("value_" + name, value.reshape(1), VALUE);
        recorded.compare("grad_" + name, prediction.getGradient(), GRADIENT);
    }

    private static NDArray labels(Case recorded, String name) {
        return recorded.tensor(name).toType(DataType.INT64, false);
    }
}
