package dev.saccade.parity;

import dev.saccade.core.structures.Boxes;
import dev.saccade.heads.MaxIouAssigner;

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

        List<Settings> configs = recorded.settings().objects("config");
        for (int k = 0; k < configs.size(); k++) {
            MaxIouAssigner assigner = assigner(configs.get(k));
            MaxIouAssigner.Assignment found = assigner.assign(boxes, groundTruth, ignored);
            compare(recorded, "gt_inds" + k, found.gtIndex());
            recorded.compare("max_overlaps" + k, NumpyArray.of(found.maxOverlap()), OVERLAP);
            compare(
                    recorded,
                    "labels" + k,
                    Arrays.stream(found.gtIndex()).map(i -> i > 0 ? labels[i - 1] : -1).toArray());
            compare(
                    recorded,
                    "gt_inds_noignore" + k,
                    assigner.assign(boxes, groundTruth, Boxes.empty()).gtIndex());
        }
        compare(
                recorded,
                "gt_inds_empty",
                assigner(configs.get(0)).assign(boxes, Boxes.empty(), Boxes.empty()).gtIndex());
    }

    /** Returns the assigner of mmdetection's settings. */
    static MaxIouAssigner assigner(Settings config) {
        config.onlyClass("type", "MaxIoUAssigner");
        config.objectOrEmpty("iou_calculator").onlyClass("type", "BboxOverlaps2D");
        config.only("perm_repeat_gt_cfg", null);
        // From so many objects on the original assigns on another device.
        config.describes("gpu_assign_thr");
        return new MaxIouAssigner(
                config.number("pos_iou_thr"),
                config.number("neg_iou_thr"),
                config.number("min_pos_iou", 0),
                config.flag("match_low_quality", true),
                config.flag("gt_max_assign_all", true),
                config.number("ignore_iof_thr", -1),
                config.flag("ignore_wrt_candidates", true));
    }

    private static void compare(Case recorded, String name, int[] found) {
        recorded.compare(name, NumpyArray.of(found), Tolerance.EXACT);
    }
}
