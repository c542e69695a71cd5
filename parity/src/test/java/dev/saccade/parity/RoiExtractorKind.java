package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.heads.roi.RoiExtractor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/** RoIAlign on the level that fits the size of each region. */
final class RoiExtractorKind implements Kind {

    @Override
    public void run(Case recorded) {
        recorded.settings().onlyClass("cls", "SingleRoIExtractor");
        Settings config = recorded.config();
        RoiExtractor extractor =
                new RoiExtractor(
                        config.integer("output_size"),
                        config.integer("sampling_ratio"),
                        config.flag("aligned", true),
                        config.integers("featmap_strides"),
                        config.number("finest_scale", 56));
        Map<String, NDArray> maps = new LinkedHashMap<>();
        for (String name : recorded.names("feat")) {
            maps.put(name, recorded.tensor(name));
        }
        FeaturePyramid pyramid = new FeaturePyramid(new ArrayList<>(maps.values()));
        Rois rois = RoiAlignKind.rois(pyramid.get(0).getManager(), recorded.array("rois"));
        NDArray found = extractor.levels(rois.boxes()).toType(DataType.INT32, false);
        NumpyArray levels = NumpyArray.of(found.toIntArray());
        recorded.compare("levels", levels, Tolerance.EXACT);
        Backward.compareOne(recorded, maps, () -> extractor.pool(pyramid, rois));
    }

    /** Returns the extractor for mmdetection's settings. */
    static RoiExtractor extractor(Settings config, int channels) {
        config.onlyClass("type", "SingleRoIExtractor");
        config.only("out_channels", channels);
        Settings layer = config.object("roi_layer");
        layer.onlyClass("type", "RoIAlign");
        layer.only("pool_mode", "avg");
        return new RoiExtractor(
                layer.integer("output_size"),
                layer.integer("sampling_ratio", 0),
                layer.flag("aligned", true),
                config.integers("featmap_strides"),
                config.number("finest_scale", 56));
    }
}
