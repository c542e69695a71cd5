package dev.saccade.parity;

import ai.djl.ndarray.NDList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.anchor.RetinaNetHead;

import java.util.List;

/** A complete RetinaNet: feature maps, predictions, losses and gradients. */
final class RetinaNetKind implements Kind {

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "RetinaNet");
        Settings model = recorded.settings().object("model");
        model.onlyClass("type", "RetinaNet");
        Settings head = model.object("bbox_head");
        RetinaNetHead.Config config =
                RetinaNetSettings.head(head, model.object("train_cfg"), model.object("test_cfg"));
        RecordedDetector built =
                new RecordedDetector(recorded, config, head.integer("num_classes"));
        built.checkFits(head);
        compareMaps(built);
        built.compareObjects(built.detector().predict(built.batch()).get(0));
        built.compareTraining(
                Instances.groundTruth(
                        Boxes.of(recorded.array("gt_bboxes").floats()),
                        recorded.array("gt_labels").ints()));
    }

    private static void compareMaps(RecordedDetector built) {
        FeaturePyramid pyramid = built.compareFeatures();
        List<NDList> maps = ((RetinaNetHead) built.detector().head()).apply(pyramid);
        built.compareMaps("cls", maps.stream().map(map -> map.get(0)).toList());
        built.compareMaps("reg", maps.stream().map(map -> map.get(1)).toList());
    }
}
