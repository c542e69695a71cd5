package dev.saccade.heads.loss;

import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

/**
 * The sum of {@code 1 - CIoU} of boxes by their corners: overlap, distance and aspect ratio (Zheng
 * et al. 2020).
 *
 * @param lossWeight weight of the loss among the others
 */
@Part("ciou")
public record CiouLoss(@Default("1") double lossWeight) implements OverlapLoss {

    private static final Script SCRIPT =
            Script.compile(
                    SIGNATURE,
                    OF_BOXES
                            + ENCLOSURE
                            + DISTANCE
                            + """
                            h_p = torch.add(torch.sub(p[3], p[1]), 1e-06)
                            h_t = torch.add(torch.sub(t[3], t[1]), 1e-06)
                            angle_p = torch.atan(torch.div(torch.sub(p[2], p[0]), h_p))
                            angle_t = torch.atan(torch.div(torch.sub(t[2], t[0]), h_t))
                            v = torch.mul(torch.pow(torch.sub(angle_t, angle_p), 2), FACTOR)
                            rest = torch.clamp(torch.add(torch.rsub(iou, 1.), v), 1e-16)
                            shape = torch.div(torch.pow(v, 2), rest)
                            loss = torch.rsub(torch.sub(iou, torch.add(distance, shape)), 1.)
                            return torch.sum(torch.mul(loss, weight))
                            """
                                    .replace("FACTOR", Double.toString(4 / (Math.PI * Math.PI))));

    public CiouLoss {
        OverlapLoss.check(lossWeight);
    }

    @Override
    public Script script() {
        return SCRIPT;
    }
}
