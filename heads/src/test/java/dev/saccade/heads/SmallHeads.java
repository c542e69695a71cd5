package dev.saccade.heads;

import dev.saccade.core.parts.FeatureInfo;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Two-stage heads of the published form, but narrow. */
final class SmallHeads {

    static final List<FeatureInfo> FEATURES =
            Stream.of(4, 8, 16, 32, 64).map(stride -> new FeatureInfo(8, stride)).toList();

    private SmallHeads() {}

    static RpnHead.Config rpn(double allowedBorder) {
        return new RpnHead.Config(
                8,
                List.of(8.0),
                List.of(0.5, 1.0, 2.0),
                0,
                new BoxCoder(),
                new BoxLoss(),
                false,
                new MaxIouAssigner(0.7, 0.3, 0.3, true, true, -1, true),
                new RandomSampler(256, 0.5, -1, false),
                allowedBorder,
                new Proposals(50, 40, 0.7, 0),
                new Proposals(50, 40, 0.7, 0));
    }

    static MaskHead.Config mask() {
        return new MaskHead.Config(1, 8, Norm.NONE, false, 1);
    }

    static MaskRcnnHead.Config maskRcnn() {
        return maskRcnn(rpn(-1), Optional.of(mask()));
    }

    static MaskRcnnHead.Config maskRcnn(RpnHead.Config rpn, Optional<MaskHead.Config> mask) {
        BoxHead.Config box =
                new BoxHead.Config(
                        0, 8, Norm.NONE, 2, 16, BoxCoder.ofRegions(), false, false, new BoxLoss());
        return new MaskRcnnHead.Config(
                rpn,
                new RoiExtractor(),
                box,
                new RoiExtractor(14),
                mask,
                new MaxIouAssigner(0.5, 0.5, 0.5, true, true, -1, true),
                new RandomSampler(20, 0.25, -1, true),
                new MulticlassNms(),
                0.5);
    }

    static CascadeMaskRcnnHead.Config cascade() {
        BoxLoss giou = new BoxLoss(BoxLoss.Type.GIOU, 1, 10);
        List<CascadeMaskRcnnHead.Stage> stages = new ArrayList<>();
        for (double iou : new double[] {0.5, 0.6}) {
            BoxHead.Config box =
                    new BoxHead.Config(
                            1, 8, Norm.SYNC_BN, 1, 16, BoxCoder.ofRegions(), false, true, giou);
            stages.add(
                    new CascadeMaskRcnnHead.Stage(
                            box,
                            new MaxIouAssigner(iou, iou, iou, false, true, -1, true),
                            new RandomSampler(20, 0.25, -1, true),
                            0.5));
        }
        return new CascadeMaskRcnnHead.Config(
                rpn(0),
                new RoiExtractor(),
                stages,
                new RoiExtractor(14),
                Optional.of(mask()),
                new MulticlassNms(),
                0.5);
    }
}
