package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;

/** A loss of the overlap of box pairs, and the text that its script begins with. */
interface OverlapLoss extends BoxLoss {

    String SIGNATURE = "(pred: Tensor, target: Tensor, weight: Tensor) -> Tensor";

    /** Corners, intersection and areas of box pairs; one weight a box. */
    String OF_BOXES =
            """
            weight = torch.mean(weight, [1])
            p = torch.unbind(pred, 1)
            t = torch.unbind(target, 1)
            w = torch.clamp(torch.sub(torch.minimum(p[2], t[2]), torch.maximum(p[0], t[0])), 0)
            h = torch.clamp(torch.sub(torch.minimum(p[3], t[3]), torch.maximum(p[1], t[1])), 0)
            inter = torch.mul(w, h)
            area_p = torch.mul(torch.sub(p[2], p[0]), torch.sub(p[3], p[1]))
            area_t = torch.mul(torch.sub(t[2], t[0]), torch.sub(t[3], t[1]))
            union = torch.sub(torch.add(area_p, area_t), inter)
            """;

    /** Sides of the smallest box around both. */
    String ENCLOSURE =
            """
            cw = torch.sub(torch.maximum(p[2], t[2]), torch.minimum(p[0], t[0]))
            ch = torch.sub(torch.maximum(p[3], t[3]), torch.minimum(p[1], t[1]))
            """;

    /** The IoU, and the squared center distance over the squared diagonal of the enclosure. */
    String DISTANCE =
            """
            iou = torch.div(inter, torch.add(union, 1e-06))
            c2 = torch.add(torch.add(torch.pow(cw, 2), torch.pow(ch, 2)), 1e-06)
            dx = torch.sub(torch.add(t[0], t[2]), torch.add(p[0], p[2]))
            dy = torch.sub(torch.add(t[1], t[3]), torch.add(p[1], p[3]))
            rho2 = torch.div(torch.add(torch.pow(dx, 2), torch.pow(dy, 2)), 4.)
            distance = torch.div(rho2, c2)
            """;

    /** Returns the weight of the loss among the others. */
    double lossWeight();

    /** Returns the script of the weighted sum. */
    Script script();

    @Override
    default NDArray sum(NDArray pred, NDArray target, NDArray weight) {
        return Functional.mul(script().run(pred, target, weight), (float) lossWeight());
    }

    /** Checks the weight of a loss. */
    static void check(double lossWeight) {
        new Checks().within("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    @Override
    default boolean comparesBoxes() {
        return true;
    }
}
