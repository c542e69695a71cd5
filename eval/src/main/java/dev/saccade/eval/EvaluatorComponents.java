package dev.saccade.eval;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.eval.classification.ClassificationEvaluator;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.segmentation.SegmentationEvaluator;

import java.util.List;

/** Lists the built-in evaluators. */
public final class EvaluatorComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(
                DetectionEvaluator.Config.class,
                SegmentationEvaluator.Config.class,
                ClassificationEvaluator.Config.class);
    }
}
