package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.DeltaXywhBoxCoder;
import dev.saccade.heads.box.ImageMetas;

import java.util.List;

/** Converts boxes to bbox deltas and back. */
final class BoxCoderKind implements Kind {

    private static final Tolerance ENCODED = new Tolerance(1e-5, 0, 1e-4);
    private static final Tolerance PIXELS = Tolerance.absolute(1e-3);

    @Override
    public void run(Case recorded) {
        Settings settings = recorded.settings();
        settings.onlyClass("cls", "DeltaXYWHBBoxCoder");
        settings.only("wh_ratio_clip", 0.016);
        List<Integer> shape = settings.integers("max_shape");
        Size image = new Size(shape.get(0), shape.get(1));
        NDArray proposals = recorded.tensor("proposals");
        NDArray targets = recorded.tensor("gt");
        NDArray deltas = recorded.tensor("deltas");
        NDArray perClass = recorded.tensor("deltas_multi").reshape(deltas.getShape().get(0), -1, 4);

        List<Settings> configs = settings.objects("config");
        for (int k = 0; k < configs.size(); k++) {
            BoxCoder coder = coder(configs.get(k));
            boolean clip = configs.get(k).flag("clip_border", true);
            compare(recorded, "enc" + k, coder.encode(proposals, targets), ENCODED);
            NDArray decoded = coder.decode(proposals, deltas);
            compare(recorded, "dec" + k, clip ? clipped(decoded, image) : decoded, PIXELS);
            compare(recorded, "dec_noclip" + k, decoded, PIXELS);
            NDArray each = coder.decode(proposals.expandDims(1), perClass);
            compare(recorded, "dec_multi" + k, clip ? clipped(each, image) : each, PIXELS);
        }
    }

    /** Returns the box coder of mmdetection's head settings; heads always clip boxes. */
    static BoxCoder clippingCoder(Settings config) {
        config.only("clip_border", true);
        return coder(config);
    }

    private static BoxCoder coder(Settings config) {
        config.onlyClass("type", "DeltaXYWHBBoxCoder");
        config.only("add_ctr_clamp", false);
        // Concerns an unused clamp and the type of the original's return values.
        config.describes("ctr_clamp", "use_box_type");
        return new DeltaXywhBoxCoder(
                config.numbers("target_means", List.of(0.0, 0.0, 0.0, 0.0)),
                config.numbers("target_stds", List.of(1.0, 1.0, 1.0, 1.0)),
                true);
    }

    private static NDArray clipped(NDArray boxes, Size image) {
        ImageMetas frames = ImageMetas.of(boxes.getManager(), List.of(ImageInfo.of(image)));
        return frames.clip(boxes.reshape(1, -1, 4));
    }

    private static void compare(Case recorded, String name, NDArray found, Tolerance tolerance) {
        NumpyArray shaped = NumpyArray.of(found).reshape(recorded.array(name).shape());
        recorded.compare(name, shaped, tolerance);
    }
}
