package dev.saccade.heads;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.heads.anchor.AtssHead;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.heads.box.AtssAssigner;
import dev.saccade.heads.box.DeltaXywhBoxCoder;
import dev.saccade.heads.box.HardNms;
import dev.saccade.heads.box.MaxIouAssigner;
import dev.saccade.heads.box.PseudoSampler;
import dev.saccade.heads.box.RandomSampler;
import dev.saccade.heads.box.SoftNms;
import dev.saccade.heads.classification.BinaryCrossEntropy;
import dev.saccade.heads.classification.LinearHead;
import dev.saccade.heads.classification.SoftCrossEntropy;
import dev.saccade.heads.loss.CrossEntropyLoss;
import dev.saccade.heads.loss.FocalLoss;
import dev.saccade.heads.loss.L1Loss;
import dev.saccade.heads.loss.OverlapLoss.CiouLoss;
import dev.saccade.heads.loss.OverlapLoss.DiouLoss;
import dev.saccade.heads.loss.OverlapLoss.GiouLoss;
import dev.saccade.heads.loss.OverlapLoss.IouLoss;
import dev.saccade.heads.loss.SmoothL1Loss;
import dev.saccade.heads.roi.CascadeMaskRcnnHead;
import dev.saccade.heads.roi.FasterRcnnHead;
import dev.saccade.heads.roi.HtcHead;
import dev.saccade.heads.roi.MaskRcnnHead;
import dev.saccade.heads.segmentation.FcnHead;
import dev.saccade.heads.segmentation.SemanticFpnHead;
import dev.saccade.heads.segmentation.UperNetHead;

import java.util.List;

/** Registers the heads and their components for configs. */
public final class Heads implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(
                RetinaNetHead.Config.class,
                AtssHead.Config.class,
                FasterRcnnHead.Config.class,
                MaskRcnnHead.Config.class,
                CascadeMaskRcnnHead.Config.class,
                HtcHead.Config.class,
                UperNetHead.Config.class,
                SemanticFpnHead.Config.class,
                FcnHead.Config.class,
                LinearHead.Config.class,
                SoftCrossEntropy.class,
                BinaryCrossEntropy.class,
                MaxIouAssigner.class,
                AtssAssigner.class,
                RandomSampler.class,
                PseudoSampler.class,
                DeltaXywhBoxCoder.class,
                HardNms.class,
                SoftNms.class,
                FocalLoss.class,
                CrossEntropyLoss.class,
                L1Loss.class,
                SmoothL1Loss.class,
                IouLoss.class,
                GiouLoss.class,
                DiouLoss.class,
                CiouLoss.class);
    }
}
