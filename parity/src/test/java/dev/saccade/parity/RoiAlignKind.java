package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.ops.vision.RoiAlign;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Size;

import java.util.List;

/** RoIAlign on one map, with gradients. */
final class RoiAlignKind implements Kind {

    @Override
    public void run(Case recorded) {
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        List<Settings> configs = recorded.settings().objects("config");
        for (int k = 0; k < configs.size(); k++) {
            RoiAlign align = align(configs.get(k));
            List<Integer> strides = List.of(stride(configs.get(k)));
            NDArray map = recorded.tensor("feat");
            Rois rois = rois(map.getManager(), recorded.array("rois"));
            NDArray levels = rois.images().zerosLike();
            map.setRequiresGradient(true);
            String name = Integer.toString(k);
            Backward.run(
                    () -> {
                        NDArray pooled =
                                align.pool(new FeaturePyramid(List.of(map)), strides, rois, levels);
                        recorded.compare("out" + name, pooled, stated);
                        return pooled.mul(recorded.tensor("ct" + name)).sum();
                    });
            recorded.compare("grad_feat" + name, map.getGradient(), stated);
        }
    }

    private static RoiAlign align(Settings config) {
        List<Integer> output = config.integers("output_size");
        return new RoiAlign(
                new Size(output.get(0), output.get(1)),
                config.integer("sampling_ratio"),
                config.flag("aligned"));
    }

    private static int stride(Settings config) {
        double stride = 1 / config.number("spatial_scale");
        if (stride != Math.rint(stride)) {
            throw config.refused("spatial_scale", "expected one over a whole number");
        }
        return (int) stride;
    }

    /** Returns RoIs from rows of image index and corners. */
    static Rois rois(NDManager manager, NumpyArray rows) {
        int[] images = rows.columns(0, 1).ints();
        return Rois.of(manager, Boxes.of(rows.columns(1, 5).floats()), images);
    }
}
