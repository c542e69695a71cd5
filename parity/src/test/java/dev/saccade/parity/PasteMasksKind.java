package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.ops.vision.MaskPaste;
import dev.saccade.core.ops.vision.MaskStyle;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

/** Mask probabilities pasted into boxes of an image. */
final class PasteMasksKind implements Kind {

    private static final double ALLOWED = 1e-4;

    @Override
    public void run(Case recorded) {
        Settings config = recorded.config();
        Size canvas = new Size(config.integer("img_h"), config.integer("img_w"));
        float threshold = (float) config.number("threshold");
        NumpyArray maps = recorded.array("mask_prob");
        Boxes boxes = Boxes.of(recorded.array("boxes").floats());
        int pixels = Math.toIntExact(canvas.area());
        double[] probabilities = new double[boxes.size() * pixels];
        double[] masks = new double[probabilities.length];
        for (int i = 0; i < boxes.size(); i++) {
            MaskPaste paste =
                    new MaskPaste(
                            MaskStyle.MMDETECTION, maps.floats(), boxes, i, maps.size(3), canvas);
            float[] pasted = paste.probabilities();
            byte[] mask = paste.atLeast(threshold).decode();
            for (int p = 0; p < pixels; p++) {
                probabilities[i * pixels + p] = pasted[p];
                masks[i * pixels + p] = mask[p];
            }
        }
        NumpyArray expected = recorded.array("prob");
        NumpyArray found = NumpyArray.of(probabilities).reshape(expected.shape());
        recorded.compare("prob", found, Tolerance.absolute(ALLOWED));
        compareMasks(expected.values(), recorded.array("mask").values(), masks, threshold);
    }

    /** Compares masks except at pixels decided by rounding. */
    private static void compareMasks(
            double[] probabilities, double[] expected, double[] found, float threshold) {
        for (int p = 0; p < found.length; p++) {
            if (Math.abs(probabilities[p] - threshold) >= ALLOWED) {
                assertEquals(expected[p], found[p], "pixel " + p);
            }
        }
    }
}
