package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.ImageMetas;
import dev.saccade.heads.roi.HtcHead;
import dev.saccade.heads.roi.TwoStageHead;
import dev.saccade.heads.segmentation.FusedSemanticHead;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A complete Mask R-CNN, Cascade Mask R-CNN or Hybrid Task Cascade: feature maps, proposals,
 * predictions with masks, losses and gradients.
 */
final class TwoStageKind implements Kind {

    private static final double PIXELS = 0.01;

    @Override
    public void run(Case recorded) {
        Settings model = recorded.settings().object("model");
        recorded.settings().onlyClass("cls", model.text("type"));
        int channels = model.object("neck").integer("out_channels");
        boolean isVersion3 = recorded.settings().text("source").startsWith("mmdet 3");
        TwoStageSettings settings = new TwoStageSettings(model, channels, isVersion3);
        RecordedDetector built =
                new RecordedDetector(recorded, settings.head(), settings.numClasses());
        built.checkFits(model.object("rpn_head"));
        FeaturePyramid pyramid = built.compareFeatures();
        TwoStageHead head = (TwoStageHead) built.detector().head();
        List<NDList> proposed = head.rpn().apply(pyramid);
        built.compareMaps("rpn_cls", proposed.stream().map(maps -> maps.get(0)).toList());
        built.compareMaps("rpn_reg", proposed.stream().map(maps -> maps.get(1)).toList());
        List<ImageInfo> images = built.batch().images();
        if (recorded.has("semantic_pred")) {
            FusedSemanticHead.Output semantic = ((HtcHead) head).semantic(pyramid);
            recorded.compare("semantic_pred", semantic.logits(), RecordedDetector.MAPS);
            recorded.compare("semantic_feat", semantic.features(), RecordedDetector.MAPS);
        }
        ImageMetas frames = ImageMetas.of(recorded.manager(), images);
        List<Instances> proposals =
                NoGrad.call(() -> head.rpn().proposals(pyramid, frames)).toInstances();
        List<Instances> found = new ArrayList<>();
        for (Instances objects : built.detector().predict(built.batch())) {
            int image = found.size();
            built.compareBoxes("proposals" + built.suffix(image), proposals.get(image));
            found.add(built.compareObjects(image, objects));
        }
        if (recorded.has("masks" + built.suffix(0))) {
            compareProbabilities(built, "mask_prob", pyramid, found);
            for (int image = 0; image < found.size(); image++) {
                Size size = images.get(image).original();
                compareMasks(recorded, built.suffix(image), size, found.get(image));
            }
        }
        if (recorded.has("mask_prob_mean" + built.suffix(0))) {
            RecordedDetector averaging =
                    new RecordedDetector(recorded, settings.averagingHead(), settings.numClasses());
            compareProbabilities(averaging, "mask_prob_mean", pyramid, found);
        }
        CountingSampler.takeCounts();
        List<Instances> targets =
                IntStream.range(0, found.size())
                        .mapToObj(image -> targets(recorded, built.suffix(image)))
                        .toList();
        built.compareTraining(
                () ->
                        recorded.has("gt_sem_seg")
                                ? built.detector().losses(built.batch(), targets, labels(recorded))
                                : built.detector().losses(built.batch(), targets));
        if (recorded.has("sampled")) {
            recorded.compare("sampled", CountingSampler.takeCounts(), Tolerance.EXACT);
        }
    }

    /** Returns the class of every pixel, {@code [N, H, W]}; recorded 255 is ignored. */
    private static NDArray labels(Case recorded) {
        NDArray labels = recorded.tensor("gt_sem_seg").squeeze(1).toType(DataType.INT64, true);
        NDArray ignored = labels.eq(255).toType(DataType.INT64, false);
        return labels.sub(ignored.mul(255 - LabelMap.IGNORE));
    }

    private static void compareProbabilities(
            RecordedDetector built, String name, FeaturePyramid pyramid, List<Instances> found) {
        TwoStageHead head = (TwoStageHead) built.detector().head();
        List<ImageInfo> images = built.batch().images();
        NDArray masks = NoGrad.call(() -> head.maskProbabilities(pyramid, images, found));
        int end = 0;
        for (int image = 0; image < found.size(); image++) {
            int start = end;
            end += found.get(image).size();
            float[] ofImage = masks.get(start + ":" + end).toFloatArray();
            built.compareProbabilities(name + built.suffix(image), ofImage);
        }
    }

    private static void compareMasks(Case recorded, String suffix, Size size, Instances found) {
        List<Rle> expected = masks(recorded, "masks", suffix);
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < found.size(); i++) {
            // Mask R-CNN treats boxes that end at the top border as padding and omits their masks.
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
                "masks" + suffix,
                NumpyArray.of(new double[different.length]),
                NumpyArray.of(different),
                Tolerance.absolute(PIXELS));
        Tolerance pixels = Tolerance.absolute(PIXELS * size.area());
        recorded.compare("mask_areas" + suffix, NumpyArray.of(areas), pixels);
    }

    /** Returns the fraction of pixels in which masks differ. */
    private static double different(Rle a, Rle b) {
        byte[] first = a.decode();
        byte[] second = b.decode();
        int count = 0;
        for (int i = 0; i < first.length; i++) {
            count += first[i] == second[i] ? 0 : 1;
        }
        return (double) count / first.length;
    }

    private static Instances targets(Case recorded, String suffix) {
        Instances boxes =
                Instances.groundTruth(
                        Boxes.of(recorded.array("gt_bboxes" + suffix).floats()),
                        recorded.array("gt_labels" + suffix).ints());
        return recorded.has("gt_masks" + suffix)
                ? boxes.withMasks(masks(recorded, "gt_masks", suffix))
                : boxes;
    }

    /** Returns masks recorded as bits, with their shape. */
    static List<Rle> masks(Case recorded, String name, String suffix) {
        NumpyArray bits =
                recorded.array(name + suffix).unpackBits(recorded.array(name + "_shape" + suffix));
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
