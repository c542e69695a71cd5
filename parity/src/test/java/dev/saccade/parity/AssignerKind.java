package dev.saccade.parity;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.MaxIouAssigner;
import dev.saccade.heads.box.Priors;

import java.util.Arrays;
import java.util.List;

/** Which ground truth a box learns, ties and ignored regions included. */
final class AssignerKind implements Kind {

    private static final Tolerance OVERLAP = Tolerance.absolute(1e-5);

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "MaxIoUAssigner");
        Boxes boxes = Boxes.of(recorded.array("boxes").floats());
        Boxes groundTruth = Boxes.of(recorded.array("gt").floats());
        Boxes ignored =
                recorded.has("gt_ignore")
                        ? Boxes.of(recorded.array("gt_ignore").floats())
                        : Boxes.empty();
        int[] labels = recorded.array("gt_labels").ints();
        Priors priors = new Priors(boxes);
        Instances objects = Instances.groundTruth(groundTruth, labels);

        List<Settings> configs = recorded.settings().objects("config");
        for (int k = 0; k < configs.size(); k++) {
            MaxIouAssigner assigner = assigner(configs.get(k));
            Assignment found = assigner.assign(priors, objects.withIgnored(ignored));
            compare(recorded, "gt_inds" + k, found.gtInds());
            recorded.compare("max_overlaps" + k, NumpyArray.of(found.maxOverlaps()), OVERLAP);
            compare(
                    recorded,
                    "labels" + k,
                    Arrays.stream(found.gtInds()).map(i -> i > 0 ? labels[i - 1] : -1).toArray());
            compare(recorded, "gt_inds_noignore" + k, assigner.assign(priors, objects).gtInds());
        }
        compare(
                recorded,
                "gt_inds_empty",
                assigner(configs.get(0)).assign(priors, Instances.empty()).gtInds());
    }

    /** Returns the assigner of mmdetection's settings. */
    static MaxIouAssigner assigner(Settings config) {
        config.onlyClass("type", "MaxIoUAssigner");
        config.objectOrEmpty("iou_calculator").onlyClass("type", "BboxOverlaps2D");
        config.only("perm_repeat_gt_cfg", null);
        // From so many objects on the original assigns on another device.
        config.describes("gpu_assign_thr");
        return Configs.of(
                MaxIouAssigner.class,
                "pos_iou_thr=" + config.number("pos_iou_thr"),
                "neg_iou_thr=" + config.number("neg_iou_thr"),
                "min_pos_iou=" + config.number("min_pos_iou", 0),
                "match_low_quality=" + config.flag("match_low_quality", true),
                "gt_max_assign_all=" + config.flag("gt_max_assign_all", true),
                "ignore_iof_thr=" + config.number("ignore_iof_thr", -1),
                "ignore_wrt_candidates=" + config.flag("ignore_wrt_candidates", true));
    }

    private static void compare(Case recorded, String name, int[] found) {
        recorded.compare(name, NumpyArray.of(found), Tolerance.EXACT);
    }
}
