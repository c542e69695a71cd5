package dev.saccade.heads.classification;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.components.ClassActivation;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Losses;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Set;

class LinearHeadTest {

    private static final List<FeatureInfo> FEATURES =
            List.of(new FeatureInfo(3, 8), new FeatureInfo(4, 16));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private LinearHead head(boolean norm) {
        LinearHead.Config config = Configs.of(LinearHead.Config.class, Map.of("norm", norm));
        LinearHead head = config.build(FEATURES, 3);
        head.initialize(manager, 1);
        return head;
    }

    private FeaturePyramid features(int batch) {
        return new FeaturePyramid(
                List.of(
                        manager.zeros(new Shape(batch, 3, 4, 6)),
                        manager.arange(batch * 4 * 6f).reshape(batch, 4, 2, 3).div(10)));
    }

    @Test
    void parametersAreNamedAsInOfficialClassifiers() {
        assertEquals(
                Set.of("norm.weight", "norm.bias", "head.weight", "head.bias"),
                head(true).namedParameters().keySet());
        assertEquals(Set.of("head.weight", "head.bias"), head(false).namedParameters().keySet());
    }

    @Test
    void appliesTheLinearLayerToTheMeanOfTheLastLevel() {
        LinearHead head = head(false);
        NDArray weight = head.namedParameters().get("head.weight").getArray();
        NDArray bias = head.namedParameters().get("head.bias").getArray();
        NDArray pooled = features(2).get(1).mean(new int[] {3}).mean(new int[] {2});
        NDArray expected = pooled.matMul(weight.transpose()).add(bias);
        assertArrayEquals(expected.toFloatArray(), head.logits(features(2)).toFloatArray(), 1e-5f);
    }

    @Test
    void normalizesTheChannelsOfEachCell() {
        LinearHead head = head(true);
        NDArray cells = features(2).get(1).transpose(0, 2, 3, 1);
        NDArray centered = cells.sub(cells.mean(new int[] {3}, true));
        NDArray variance = centered.mul(centered).mean(new int[] {3}, true);
        NDArray pooled =
                centered.div(variance.add(1e-5f).sqrt()).mean(new int[] {2}).mean(new int[] {1});
        NDArray weight = head.namedParameters().get("head.weight").getArray();
        NDArray bias = head.namedParameters().get("head.bias").getArray();
        assertArrayEquals(
                pooled.matMul(weight.transpose()).add(bias).toFloatArray(),
                head.logits(features(2)).toFloatArray(),
                1e-4f);
    }

    @Test
    void reportsLossAndAccuracy() {
        LinearHead head = head(true);
        NDArray logits = head.logits(features(2));
        NDArray best = logits.argMax(1);
        float[] targets = new float[6];
        targets[(int) best.toLongArray()[0]] = 1;
        targets[3 + ((int) best.toLongArray()[1] + 1) % 3] = 1;
        NDArray distribution = manager.create(targets, new Shape(2, 3));
        Losses losses = head.losses(features(2), distribution);
        assertEquals(50, losses.metrics().get("acc_cls").getFloat());
        float expected = logits.logSoftmax(1).mul(distribution).sum().div(-2).getFloat();
        assertEquals(expected, losses.terms().get("loss_cls").getFloat(), 1e-5f);
    }

    @Test
    void theLossDeterminesTheActivation() {
        NDArray logits = manager.create(new float[] {0, 1, 2}, new Shape(1, 3));
        ClassActivation softmax = Configs.of(LinearHead.Config.class).activation();
        ClassActivation sigmoid =
                Configs.of(LinearHead.Config.class, "loss={type: binary_cross_entropy}")
                        .activation();
        assertArrayEquals(
                new float[] {0.0900f, 0.2447f, 0.6652f}, softmax.of(logits).toFloatArray(), 1e-4f);
        assertArrayEquals(
                new float[] {0.5f, 0.7311f, 0.8808f}, sigmoid.of(logits).toFloatArray(), 1e-4f);
    }
}
