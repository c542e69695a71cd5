package dev.saccade.examples.components;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.heads.box.HardNms;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.Map;

/** NMS with scores calibrated by a power. */
@Component("calibrated")
public record CalibratedNms(
        @Default("1") double exponent,
        @Default("0.05") double scoreThr,
        @Default("0.5") double iouThreshold,
        @Default("100") int maxPerImg)
        implements MulticlassNms {

    /** Missing detections have score -inf before and 0 after, which no threshold passes. */
    private static final ScriptTemplate BENT =
            ScriptTemplate.of(
                    "(scores: Tensor) -> Tensor",
                    "return torch.pow(torch.clamp(scores, 0), {exponent})");

    public CalibratedNms {
        new Checks().above("exponent", exponent, 0, 100).throwIfAny();
        new HardNms(scoreThr, iouThreshold, maxPerImg);
    }

    @Override
    public Kept apply(ScoredBoxes scored) {
        ScoredBoxes bent =
                new ScoredBoxes(
                        scored.boxes(),
                        BENT.with(Map.of("exponent", exponent)).run(scored.scores()));
        return new HardNms(scoreThr, iouThreshold, maxPerImg).apply(bent);
    }
}
