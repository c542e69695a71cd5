package dev.saccade.eval;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.segmentation.SegmentationEvaluator;

import java.util.List;

/** Lists the built-in evaluators. */
public final class EvaluatorParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(DetectionEvaluator.Config.class, SegmentationEvaluator.Config.class);
    }
}
