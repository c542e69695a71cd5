package dev.saccade.heads.loss;

import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

/**
 * The sum of {@code 1 - GIoU} of boxes by their corners (Rezatofighi et al. 2019).
 *
 * @param lossWeight weight of the loss among the others
 */
@Part("giou")
public record GiouLoss(@Default("1") double lossWeight) implements OverlapLoss {

    private static final Script SCRIPT =
            Script.compile(
                    SIGNATURE,
                    OF_BOXES
                            + ENCLOSURE
                            + """
                            union = torch.clamp(union, 1e-06)
                            hull = torch.clamp(torch.mul(cw, ch), 1e-06)
                            iou = torch.div(inter, union)
                            giou = torch.sub(iou, torch.div(torch.sub(hull, union), hull))
                            return torch.sum(torch.mul(torch.rsub(giou, 1.), weight))
                            """);

    public GiouLoss {
        OverlapLoss.check(lossWeight);
    }

    @Override
    public Script script() {
        return SCRIPT;
    }
}
