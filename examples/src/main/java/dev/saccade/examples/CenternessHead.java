package dev.saccade.examples;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Activation;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.heads.anchor.AnchorTargets;
import dev.saccade.heads.anchor.DenseHead;
import dev.saccade.heads.loss.CenternessLoss;

import java.util.List;
import java.util.Map;

/**
 * A custom head: RetinaNet with a centerness branch as in FCOS (Tian et al. 2019).
 *
 * <p>Centerness weights the box loss and multiplies the scores.
 */
public final class CenternessHead extends DenseHead {

    @Component("centerness")
    public record Config(@Unwrapped DenseHead.Settings settings) implements DenseHead.Config {

        @Override
        public CenternessHead build(List<FeatureInfo> features, int numClasses) {
            return new CenternessHead(this, features, numClasses);
        }
    }

    private final CenternessLoss loss = new CenternessLoss(1);
    private final Conv2d centerness;

    private CenternessHead(Config config, List<FeatureInfo> features, int numClasses) {
        super("atss", config.settings(), features, numClasses);
        centerness = add("bbox_head.atss_centerness", predictor(1));
    }

    @Override
    protected NDList forward(NDArray clsFeatures, NDArray regFeatures, int level) {
        NDList maps = super.forward(clsFeatures, regFeatures, level);
        maps.add(centerness.apply(regFeatures));
        return maps;
    }

    @Override
    protected Map<String, NDArray> levelLosses(NDList maps, AnchorTargets.Level targets) {
        NDArray weights = targets.positives().weights();
        NDArray logits = rows(maps.get(2), 1, targets.positives()).flatten();
        NDArray centered = CenternessLoss.targets(targets.anchors(), targets.boxes());
        return Map.of(
                "loss_cls", clsLoss(maps, targets),
                "loss_bbox", bboxLoss(maps, targets, centered.mul(weights)),
                "loss_centerness", loss.sum(logits, centered, weights));
    }

    @Override
    protected NDArray scores(NDList maps) {
        return super.scores(maps).mul(Activation.sigmoid(rows(maps.get(2), 1)));
    }
}
