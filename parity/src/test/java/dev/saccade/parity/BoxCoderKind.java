package dev.saccade.parity;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.DeltaXywhBoxCoder;

import java.util.List;

/** From boxes to bbox deltas and back. */
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
        Boxes proposals = Boxes.of(recorded.array("proposals").floats());
        Boxes targets = Boxes.of(recorded.array("gt").floats());
        float[] deltas = recorded.array("deltas").floats();

        List<Settings> configs = settings.objects("config");
        for (int k = 0; k < configs.size(); k++) {
            BoxCoder coder = coder(configs.get(k));
            boolean clip = configs.get(k).flag("clip_border", true);
            compare(recorded, "enc" + k, coder.encode(proposals, targets), ENCODED);
            compare(recorded, "dec" + k, decode(coder, proposals, deltas, image, clip), PIXELS);
            compare(recorded, "dec_noclip" + k, coder.decode(proposals, deltas).toArray(), PIXELS);
            float[] deltasPerClass = recorded.array("deltas_multi").floats();
            compare(
                    recorded,
                    "dec_multi" + k,
                    decode(coder, proposals, deltasPerClass, image, clip),
                    PIXELS);
        }
    }

    /** Returns the coder of mmdetection's settings of a head, where boxes are always clipped. */
    static BoxCoder clippingCoder(Settings config) {
        config.only("clip_border", true);
        return coder(config);
    }

    private static BoxCoder coder(Settings config) {
        config.onlyClass("type", "DeltaXYWHBBoxCoder");
        config.only("add_ctr_clamp", false);
        // Of the clamp that is not there, and of the class of tensors that the original returns.
        config.describes("ctr_clamp", "use_box_type");
        return new DeltaXywhBoxCoder(
                config.numbers("target_means", List.of(0.0, 0.0, 0.0, 0.0)),
                config.numbers("target_stds", List.of(1.0, 1.0, 1.0, 1.0)));
    }

    private static float[] decode(
            BoxCoder coder, Boxes boxes, float[] deltas, Size image, boolean clip) {
        Boxes decoded =
                clip ? coder.decode(boxes, deltas).clip(image) : coder.decode(boxes, deltas);
        return decoded.toArray();
    }

    private static void compare(Case recorded, String name, float[] found, Tolerance tolerance) {
        NumpyArray shaped = NumpyArray.of(found).reshape(recorded.array(name).shape());
        recorded.compare(name, shaped, tolerance);
    }
}
