package dev.saccade.heads.loss;

import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

/**
 * The sum of {@code 1 - DIoU} of boxes by their corners: overlap and distance (Zheng et al. 2020).
 *
 * @param lossWeight weight of the loss among the others
 */
@Part("diou")
public record DiouLoss(@Default("1") double lossWeight) implements OverlapLoss {

    private static final Script SCRIPT =
            Script.compile(
                    SIGNATURE,
                    OF_BOXES
                            + ENCLOSURE
                            + DISTANCE
                            + """
                            loss = torch.rsub(torch.sub(iou, distance), 1.)
                            return torch.sum(torch.mul(loss, weight))
                            """);

    public DiouLoss {
        OverlapLoss.check(lossWeight);
    }

    @Override
    public Script script() {
        return SCRIPT;
    }
}
