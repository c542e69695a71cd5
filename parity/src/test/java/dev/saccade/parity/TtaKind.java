package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;

import java.util.ArrayList;
import java.util.List;

/** Predictions of a head with test-time augmentation, from recorded features. */
final class TtaKind implements Kind {

    private static final Tolerance CLOSE = Tolerance.ofMax(1e-4);

    @Override
    public void run(Case recorded) {
        Settings model = recorded.settings().object("model");
        DetectionHead head = head(model);
        RecordedWeights.load(recorded, head);
        head.train(false);
        List<FeaturePyramid> pyramids = new ArrayList<>();
        List<ImageInfo> images = new ArrayList<>();
        for (Settings view : recorded.settings().objects("views")) {
            List<NDArray> levels =
                    recorded.names("view" + pyramids.size() + "_").stream()
                            .map(recorded::tensor)
                            .toList();
            pyramids.add(new FeaturePyramid(levels));
            images.add(RecordedDetector.image(view));
        }
        Instances found = NoGrad.call(() -> head.predictAugmented(pyramids, images));
        recorded.compare("labels", NumpyArray.of(found.labels()), Tolerance.EXACT);
        NumpyArray expected = recorded.array("dets");
        NumpyArray rows = MulticlassNmsKind.rows(found);
        recorded.compare("boxes", expected.columns(0, 4), rows.columns(0, 4), CLOSE);
        recorded.compare("scores", expected.columns(4, 5), rows.columns(4, 5), CLOSE);
        if (recorded.has("masks")) {
            assertEquals(TwoStageKind.masks(recorded, "masks", ""), found.masks());
        }
    }

    private static DetectionHead head(Settings model) {
        boolean oneStage = model.has("bbox_head");
        Settings first = model.object(oneStage ? "bbox_head" : "rpn_head");
        int channels = first.integer("in_channels");
        List<FeatureInfo> features =
                first.object("anchor_generator").integers("strides").stream()
                        .map(stride -> new FeatureInfo(channels, stride))
                        .toList();
        if (oneStage) {
            return RetinaNetSettings.head(
                            first, model.object("train_cfg"), model.object("test_cfg"))
                    .build(features, first.integer("num_classes"));
        }
        TwoStageSettings settings = new TwoStageSettings(model, channels, false);
        return settings.averagingHead().build(features, settings.numClasses());
    }
}
