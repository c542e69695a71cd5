package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.MaxIouAssigner;
import dev.saccade.heads.box.Priors;

import java.util.Arrays;
import java.util.List;

/** Assignment of ground truth to boxes, including ties and ignored regions. */
final class AssignerKind implements Kind {

    private static final Tolerance OVERLAP = Tolerance.absolute(1e-5);

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "MaxIoUAssigner");
        NDManager manager = recorded.manager();
        NDArray none = manager.create(new Shape(0, 4));
        int[] labels = recorded.array("gt_labels").ints();
        Priors priors = new Priors(recorded.tensor("boxes"));
        GtInstances objects = new GtInstances(recorded.tensor("gt"), manager.create(labels), none);
        GtInstances besideIgnored =
                recorded.has("gt_ignore")
                        ? new GtInstances(
                                objects.boxes(), objects.labels(), recorded.tensor("gt_ignore"))
                        : objects;

        List<Settings> configs = recorded.settings().objects("config");
        for (int k = 0; k < configs.size(); k++) {
            MaxIouAssigner assigner = assigner(configs.get(k));
            Assignment found = assigner.assign(priors, besideIgnored);
            int[] gtInds = ints(found);
            compare(recorded, "gt_inds" + k, gtInds);
            recorded.compare("max_overlaps" + k, NumpyArray.of(found.maxOverlaps()), OVERLAP);
            compare(
                    recorded,
                    "labels" + k,
                    Arrays.stream(gtInds).map(i -> i > 0 ? labels[i - 1] : -1).toArray());
            compare(recorded, "gt_inds_noignore" + k, ints(assigner.assign(priors, objects)));
        }
        GtInstances nothing = new GtInstances(none, manager.create(new int[0]), none);
        compare(recorded, "gt_inds_empty", ints(assigner(configs.get(0)).assign(priors, nothing)));
    }

    private static int[] ints(Assignment found) {
        return Arrays.stream(found.gtInds().toLongArray()).mapToInt(Math::toIntExact).toArray();
    }

    /** Returns the assigner of mmdetection's settings. */
    static MaxIouAssigner assigner(Settings config) {
        config.onlyClass("type", "MaxIoUAssigner");
        config.objectOrEmpty("iou_calculator").onlyClass("type", "BboxOverlaps2D");
        config.only("perm_repeat_gt_cfg", null);
        // Above this number of objects, the original assigns on another device.
        config.describes("gpu_assign_thr");
        Object negative =
                config.isList("neg_iou_thr")
                        ? config.numbers("neg_iou_thr")
                        : config.number("neg_iou_thr");
        return Configs.of(
                MaxIouAssigner.class,
                "pos_iou_thr=" + config.number("pos_iou_thr"),
                "neg_iou_thr=" + negative,
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
