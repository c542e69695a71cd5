package dev.saccade.heads.classification;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;

import dev.saccade.core.Checks;
import dev.saccade.core.components.ClassActivation;
import dev.saccade.core.components.ClassificationHead;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.Dropout2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Losses;

import java.util.List;
import java.util.Optional;

/**
 * Normalization, average pooling, dropout and a linear layer on the last level, like mmpretrain's
 * {@code LinearClsHead}. Parameter names are the official classifiers' {@code norm} and {@code
 * head}.
 */
public final class LinearHead extends ClassificationHead {

    /**
     * Settings of a linear head.
     *
     * @param norm whether to normalize the channels of each cell before pooling, as in transformers
     */
    @Component("linear_cls")
    public record Config(
            @Default("false") boolean norm,
            @Default("1e-5") double normEps,
            @Default("0") double dropoutRatio,
            @Default("{type: soft_cross_entropy}") ImageLoss loss)
            implements ClassificationHead.Config {

        public Config {
            new Checks()
                    .inRange("norm_eps", normEps, 1e-12, 1)
                    .inRange("dropout_ratio", dropoutRatio, 0, 0.99)
                    .throwIfAny();
        }

        @Override
        public ClassActivation activation() {
            return loss.activation();
        }

        @Override
        public LinearHead build(List<FeatureInfo> features, int numClasses) {
            return new LinearHead(this, features, numClasses);
        }
    }

    private final ImageLoss loss;
    private final Optional<Layer> norm;
    private final Layer dropout;
    private final Linear head;

    public LinearHead(Config config, List<FeatureInfo> features, int numClasses) {
        loss = config.loss();
        int channels = Iterables.getLast(features).channels();
        norm =
                when(
                        config.norm(),
                        () -> add("norm", new LayerNorm(channels, (float) config.normEps())));
        dropout = add("dropout", new Dropout2d(config.dropoutRatio()));
        head = add("head", new Linear(channels, numClasses).asOutput());
    }

    @Override
    public NDArray logits(FeaturePyramid features) {
        NDArray map = features.get(features.size() - 1);
        NDArray cells = map.transpose(0, 2, 3, 1);
        NDArray normalized = norm.map(layer -> layer.apply(cells)).orElse(cells);
        NDArray pooled = Functional.mean(normalized, List.of(1, 2), false);
        long channels = pooled.getShape().get(1);
        NDArray kept = dropout.apply(pooled.reshape(-1, channels, 1, 1));
        return head.apply(kept.reshape(-1, channels));
    }

    @Override
    public Losses losses(FeaturePyramid features, NDArray targets) {
        NDArray logits = Functional.to(logits(features), DataType.FLOAT32);
        NDArray right = logits.argMax(1).eq(targets.argMax(1)).toType(DataType.FLOAT32, false);
        return new Losses(
                ImmutableMap.of("loss_cls", loss.loss(logits, targets)),
                ImmutableMap.of("acc_cls", Functional.mul(right.mean(), 100)));
    }
}
