package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;

/** IoU-type losses from mmdetection's {@code iou_loss.py}; they compare boxes by corners. */
public sealed interface OverlapLoss extends BoxLoss {

    /** Width and height of the smallest enclosing box. */
    String ENCLOSURE =
            """
            cw = torch.sub(torch.maximum(p[2], t[2]), torch.minimum(p[0], t[0]))
            ch = torch.sub(torch.maximum(p[3], t[3]), torch.minimum(p[1], t[1]))
            """;

    /** IoU, and squared center distance over squared diagonal of the enclosing box. */
    String DISTANCE =
            """
            iou = torch.div(inter, torch.add(union, 1e-06))
            c2 = torch.add(torch.add(torch.pow(cw, 2), torch.pow(ch, 2)), 1e-06)
            dx = torch.sub(torch.add(t[0], t[2]), torch.add(p[0], p[2]))
            dy = torch.sub(torch.add(t[1], t[3]), torch.add(p[1], p[3]))
            rho2 = torch.div(torch.add(torch.pow(dx, 2), torch.pow(dy, 2)), 4.)
            distance = torch.div(rho2, c2)
            """;

    private static Script compile(String loss) {
        return Script.compile(
                "(pred: Tensor, target: Tensor, weight: Tensor) -> Tensor",
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
                """
                        + loss
                        + "return torch.sum(torch.mul(loss, weight))\n");
    }

    double lossWeight();

    Script script();

    @Override
    default NDArray sum(NDArray pred, NDArray target, NDArray weight) {
        return Functional.mul(script().run(pred, target, weight), (float) lossWeight());
    }

    private static void check(double lossWeight) {
        new Checks().inRange("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    @Override
    default boolean comparesBoxes() {
        return true;
    }

    /** Sum of {@code -ln IoU}, with IoU at least 1e-6 (UnitBox, Yu et al. 2016). */
    @Component("iou")
    record IouLoss(@Default("1") double lossWeight) implements OverlapLoss {

        private static final Script SCRIPT =
                compile(
                        """
                        iou = torch.div(inter, torch.clamp(union, 1e-06))
                        loss = torch.neg(torch.log(torch.clamp(iou, 1e-06)))
                        """);

        public IouLoss {
            check(lossWeight);
        }

        @Override
        public Script script() {
            return SCRIPT;
        }
    }

    /** Sum of {@code 1 - GIoU} (Rezatofighi et al. 2019). */
    @Component("giou")
    record GiouLoss(@Default("1") double lossWeight) implements OverlapLoss {

        private static final Script SCRIPT =
                compile(
                        ENCLOSURE
                                + """
                                union = torch.clamp(union, 1e-06)
                                hull = torch.clamp(torch.mul(cw, ch), 1e-06)
                                iou = torch.div(inter, union)
                                giou = torch.sub(iou, torch.div(torch.sub(hull, union), hull))
                                loss = torch.rsub(giou, 1.)
                                """);

        public GiouLoss {
            check(lossWeight);
        }

        @Override
        public Script script() {
            return SCRIPT;
        }
    }

    /** Sum of {@code 1 - DIoU}: overlap and distance (Zheng et al. 2020). */
    @Component("diou")
    record DiouLoss(@Default("1") double lossWeight) implements OverlapLoss {

        private static final Script SCRIPT =
                compile(ENCLOSURE + DISTANCE + "loss = torch.rsub(torch.sub(iou, distance), 1.)\n");

        public DiouLoss {
            check(lossWeight);
        }

        @Override
        public Script script() {
            return SCRIPT;
        }
    }

    /** Sum of {@code 1 - CIoU}: overlap, distance and aspect ratio (Zheng et al. 2020). */
    @Component("ciou")
    record CiouLoss(@Default("1") double lossWeight) implements OverlapLoss {

        private static final Script SCRIPT =
                compile(
                        ENCLOSURE
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
                                """
                                        .replace(
                                                "FACTOR",
                                                Double.toString(4 / (Math.PI * Math.PI))));

        public CiouLoss {
            check(lossWeight);
        }

        @Override
        public Script script() {
            return SCRIPT;
        }
    }
}
