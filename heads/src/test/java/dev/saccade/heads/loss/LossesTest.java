package dev.saccade.heads.loss;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.roi.BoxHead;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.function.DoubleFunction;
import java.util.stream.Stream;

/** Expected values are computed by hand. */
class LossesTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void focalLossOfAnUndecidedLogit() {
        FocalLoss focal = Configs.of(FocalLoss.class);
        NDArray logits = manager.zeros(new Shape(1, 2));
        NDArray ones = manager.ones(new Shape(1));
        float target = 0.0433217f;
        float other = 0.1299651f;
        assertEquals(
                target + other,
                focal.sum(logits, manager.create(new int[] {1}), ones).getFloat(),
                1e-6f);
        assertEquals(
                2 * other,
                focal.sum(logits, manager.create(new int[] {2}), ones).getFloat(),
                1e-6f);
        NDArray none = manager.zeros(new Shape(0, 2));
        assertEquals(
                0,
                focal.sum(none, manager.create(new int[0]), manager.create(new float[0]))
                        .getFloat());
    }

    @Test
    void masksCountByTheirWeights() {
        MaskCrossEntropy loss = new MaskCrossEntropy(2);
        NDArray logits = manager.zeros(new Shape(2, 3, 4, 4));
        NDArray targets = manager.ones(new Shape(2, 4, 4));
        NDArray labels = manager.create(new int[] {0, 2});
        float whole = (float) (2 * 16 * Math.log(2));
        NDArray ones = manager.ones(new Shape(2));
        assertEquals(2 * whole, loss.sum(logits, targets, labels, ones).getFloat(), 1e-4f);
        NDArray first = manager.create(new float[] {1, 0});
        assertEquals(whole, loss.sum(logits, targets, labels, first).getFloat(), 1e-4f);
    }

    @ParameterizedTest
    @ValueSource(classes = {RetinaNetHead.Config.class, RpnHead.Config.class, BoxHead.Config.class})
    void rejectsIouLossesWithoutDecodedBoxes(Class<? extends Record> head) {
        for (String type : List.of("iou", "giou", "diou", "ciou")) {
            String loss = "loss_bbox={type: " + type + "}";
            String message =
                    assertThrows(SaccadeException.class, () -> Configs.of(head, loss)).getMessage();
            assertTrue(
                    message.contains(
                            "loss_bbox: got " + type + ", expected reg_decoded_bbox: true"),
                    message);
            Configs.of(head, loss, "reg_decoded_bbox=true");
        }
        Configs.of(head, "loss_bbox={type: smooth_l1}");
    }

    @Test
    void giouMatchesTheSpecification() {
        NDArray a = manager.create(new float[] {0, 0, 10, 10}, new Shape(1, 4));
        NDArray b = manager.create(new float[] {5, 5, 15, 15}, new Shape(1, 4));
        assertEquals(
                1.0793651f,
                Configs.of(OverlapLoss.GiouLoss.class)
                        .sum(a, b, manager.ones(new Shape(1, 4)))
                        .getFloat(),
                1e-6f);
    }

    static Stream<DoubleFunction<BoxLoss>> boxLosses() {
        return Stream.of(
                L1Loss::new,
                weight -> new SmoothL1Loss(1, weight),
                OverlapLoss.IouLoss::new,
                OverlapLoss.GiouLoss::new,
                OverlapLoss.DiouLoss::new,
                OverlapLoss.CiouLoss::new);
    }

    @ParameterizedTest
    @MethodSource("boxLosses")
    void aBoxLossIsTheWeightedSum(DoubleFunction<BoxLoss> ofWeight) {
        NDArray boxes = manager.create(new float[] {1, 2, 30, 40, 5, 5, 9, 8}, new Shape(2, 4));
        NDArray none = manager.zeros(new Shape(0, 4));
        NDArray moved = boxes.add(manager.create(new float[] {1, 0, 1, 0}));
        NDArray ones = boxes.onesLike();
        BoxLoss loss = ofWeight.apply(1);
        assertEquals(0, loss.sum(boxes, boxes, ones).getFloat(), 1e-5f);
        assertEquals(0, loss.sum(none, none, none).getFloat());
        float both = loss.sum(moved, boxes, ones).getFloat();
        float first = loss.sum(moved.get("0:1"), boxes.get("0:1"), ones.get("0:1")).getFloat();
        assertEquals(2 * both, ofWeight.apply(2).sum(moved, boxes, ones).getFloat(), 1e-5f);
        NDArray weights = manager.create(new float[] {3, 1}, new Shape(2, 1)).mul(ones);
        assertEquals(both + 2 * first, loss.sum(moved, boxes, weights).getFloat(), 1e-5f);
    }

    @Test
    void l1IsTheSumOfTheDifferences() {
        NDArray boxes = manager.zeros(new Shape(2, 4));
        NDArray ones = boxes.onesLike();
        assertEquals(16, new L1Loss(2).sum(ones, boxes, ones).getFloat());
        assertEquals(8 * 0.5f, Configs.of(SmoothL1Loss.class).sum(ones, boxes, ones).getFloat());
        assertEquals(8 * 0.75f, new SmoothL1Loss(0.5, 1).sum(ones, boxes, ones).getFloat());
    }

    @Test
    void crossEntropyHasOneLogitMoreWithASoftmax() {
        ClassificationLoss sigmoid = new CrossEntropyLoss(true, 1);
        ClassificationLoss softmax = new CrossEntropyLoss(false, 3);
        assertEquals(4, sigmoid.outChannels(4));
        assertEquals(5, softmax.outChannels(4));
        NDArray labels = manager.create(new int[] {0, 2});
        NDArray weights = manager.create(new float[] {1, 0.5f});
        float ln2 = (float) Math.log(2);
        NDArray two = manager.zeros(new Shape(2, 2));
        assertEquals(3 * ln2, sigmoid.sum(two, labels, weights).getFloat(), 1e-6f);
        NDArray three = manager.zeros(new Shape(2, 3));
        float ln3 = (float) Math.log(3);
        assertEquals(3 * 1.5f * ln3, softmax.sum(three, labels, weights).getFloat(), 1e-5f);
    }
}
