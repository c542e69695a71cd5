package dev.saccade.eval;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;

import java.util.List;

/**
 * How a detector did on a data set, down to the single photograph.
 *
 * @param predictions what was found, by index of the photograph
 * @param verdicts likewise, what has become of each prediction at IoU .50
 * @param missed likewise, the objects that no prediction covers at IoU .50; crowds need not be
 * @param detections the same predictions in one list, ready for {@link CocoResults#write}
 * @param metrics average precision and recall
 */
public record Evaluation(
        List<Instances> predictions,
        List<List<Verdict>> verdicts,
        List<List<Annotation>> missed,
        Detections detections,
        CocoMetrics metrics) {

    /** Keeps copies of the lists. */
    public Evaluation {
        predictions = ImmutableList.copyOf(predictions);
        verdicts = ImmutableList.copyOf(verdicts);
        missed = ImmutableList.copyOf(missed);
    }
}
