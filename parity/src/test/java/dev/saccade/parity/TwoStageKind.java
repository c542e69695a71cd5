package dev.saccade.parity;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.anchor.LevelMaps;
import dev.saccade.heads.roi.TwoStageHead;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A whole Mask R-CNN or Cascade Mask R-CNN: maps, proposals, objects with masks in the original
 * image, losses and gradients.
 */
final class TwoStageKind implements Kind {

    private static final Tolerance PROBABILITY = Tolerance.absolute(1e-3);
    private static final double PIXELS = 0.01;

    @Override
    public void run(Case recorded) {
        Settings model = recorded.settings().object("model");
        recorded.settings().onlyClass("cls", model.text("type"));
        int channels = model.object("neck").integer("out_channels");
        TwoStageSettings settings = new TwoStageSettings(model, channels);
        RecordedDetector built =
                new RecordedDetector(recorded, settings.head(), settings.numClasses());
        built.checkFits(model.object("rpn_head"));
        FeaturePyramid pyramid = built.compareFeatures();
        TwoStageHead head = (TwoStageHead) built.detector().head();
        List<LevelMaps> proposed = head.rpn().forward(pyramid);
        built.compareMaps("rpn_cls", proposed.stream().map(LevelMaps::cls).toList());
        built.compareMaps("rpn_reg", proposed.stream().map(LevelMaps::reg).toList());
        List<ImageInfo> images = built.batch().images();
        built.compareBoxes("proposals", head.propose(pyramid, images).toInstances().get(0));

        Instances found = built.detector().predict(built.batch()).get(0);
        built.compareObjects(found);
        if (recorded.has("masks")) {
            compareMasks(recorded, head, pyramid, images, RecordedDetector.byLabel(found));
        }
        built.compareTraining(targets(recorded));
    }

    private static void compareMasks(
            Case recorded,
            TwoStageHead head,
            FeaturePyramid pyramid,
            List<ImageInfo> images,
            Instances found) {
        float[] drawn = head.drawMasks(pyramid, images, List.of(found)).get(0);
        NumpyArray probabilities = recorded.array("mask_prob");
        double[] doubles = new double[drawn.length];
        Arrays.setAll(doubles, i -> drawn[i]);
        recorded.compare(
                "mask_prob", NumpyArray.of(doubles).reshape(probabilities.shape()), PROBABILITY);

        List<Rle> expected = masks(recorded, "masks");
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < found.size(); i++) {
            // Mask R-CNN takes boxes that end at the top for padding and leaves their masks out.
            if (expected.size() == found.size() || found.boxes().y2(i) != 0) {
                masks.add(found.mask(i));
            }
        }
        recorded.compare(
                "number of masks",
                NumpyArray.of(expected.size()),
                NumpyArray.of(masks.size()),
                Tolerance.EXACT);
        double[] different = new double[masks.size()];
        double[] areas = new double[masks.size()];
        for (int i = 0; i < different.length; i++) {
            different[i] = different(expected.get(i), masks.get(i));
            areas[i] = masks.get(i).area();
        }
        recorded.compare(
                "masks",
                NumpyArray.of(new double[different.length]),
                NumpyArray.of(different),
                Tolerance.absolute(PIXELS));
        Tolerance pixels = Tolerance.absolute(PIXELS * images.get(0).original().area());
        recorded.compare("mask_areas", NumpyArray.of(areas), pixels);
    }

    /** Returns the part of the image in which masks differ. */
    private static double different(Rle a, Rle b) {
        byte[] first = a.decode();
        byte[] second = b.decode();
        int count = 0;
        for (int i = 0; i < first.length; i++) {
            count += first[i] == second[i] ? 0 : 1;
        }
        return (double) count / first.length;
    }

    private static Instances targets(Case recorded) {
        Instances boxes =
                Instances.groundTruth(
                        Boxes.of(recorded.array("gt_bboxes").floats()),
                        recorded.array("gt_labels").ints());
        return recorded.has("gt_masks") ? boxes.withMasks(masks(recorded, "gt_masks")) : boxes;
    }

    /** Returns masks that are recorded as bits, beside their shape. */
    static List<Rle> masks(Case recorded, String name) {
        NumpyArray bits = recorded.array(name).unpackBits(recorded.array(name + "_shape"));
        Size size = new Size(bits.size(1), bits.size(2));
        int pixels = Math.toIntExact(size.area());
        List<Rle> masks = new ArrayList<>();
        byte[] all = bits.bytes();
        for (int i = 0; i < bits.size(0); i++) {
            masks.add(Rle.encode(size, Arrays.copyOfRange(all, i * pixels, (i + 1) * pixels)));
        }
        return masks;
    }
}
