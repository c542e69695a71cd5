package dev.saccade.heads.loss;

import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

/**
 * The sum of {@code -ln IoU} of boxes by their corners, the IoU at least 1e-6 (UnitBox, Yu et al.
 * 2016).
 *
 * @param lossWeight weight of the loss among the others
 */
@Part("iou")
public record IouLoss(@Default("1") double lossWeight) implements OverlapLoss {

    private static final Script SCRIPT =
            Script.compile(
                    SIGNATURE,
                    OF_BOXES
                            + """
                            iou = torch.div(inter, torch.clamp(union, 1e-06))
                            loss = torch.neg(torch.log(torch.clamp(iou, 1e-06)))
                            return torch.sum(torch.mul(loss, weight))
                            """);

    public IouLoss {
        OverlapLoss.check(lossWeight);
    }

    @Override
    public Script script() {
        return SCRIPT;
    }
}
