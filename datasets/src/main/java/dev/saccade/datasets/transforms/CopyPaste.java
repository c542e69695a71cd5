package dev.saccade.datasets.transforms;

import com.google.common.primitives.Ints;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.SamplePool;
import dev.saccade.datasets.Transform;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Rect;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Pastes objects of another image of the data set, to which the preceding transforms are applied as
 * well (Ghiasi et al. 2021, Simple Copy-Paste; mmdetection's {@code CopyPaste}).
 *
 * <p>Covered pixels are removed from the masks of existing objects, whose boxes shrink accordingly.
 * Pasted objects come last. Pasted areas also copy the label map. Crowds are not pasted, and
 * existing crowds are kept.
 *
 * <p>Images are aligned at their upper left corners, and objects are cut off at the edges of the
 * target image; mmdetection requires equal padded sizes. Unlike mmdetection, fully covered objects
 * are always removed.
 *
 * @param maxNumPasted exclusive upper bound of the random number of pasted objects
 * @param bboxOccludedThr keeps a covered object if no edge of its box moves by more than this
 *     number of pixels
 * @param maskOccludedThr also keeps a covered object with more than this number of visible pixels
 * @param selected whether to sample objects; otherwise pastes all
 * @param pasteByBox whether to paste the content of boxes if masks are not trained
 */
@Component("copy_paste")
public record CopyPaste(
        @Default("100") int maxNumPasted,
        @Default("10") int bboxOccludedThr,
        @Default("300") int maskOccludedThr,
        @Default("true") boolean selected,
        @Default("false") boolean pasteByBox)
        implements Transform {

    private static final String BOXES_ALONE =
            "copy_paste: requires masks, but the model trains on boxes only; set paste_by_box: true"
                    + " to paste the content of boxes";

    public CopyPaste {
        new Checks()
                .inRange("max_num_pasted", maxNumPasted, 1, 100_000)
                .inRange("bbox_occluded_thr", bboxOccludedThr, 0, InputSize.MAX_EDGE)
                .inRange("mask_occluded_thr", maskOccludedThr, 0, 1_000_000_000)
                .throwIfAny();
    }

    @Override
    public boolean needsOtherSamples() {
        return true;
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        if (!targets.hasObjects()) {
            return Optional.of(
                    "copy_paste: requires labeled objects, but the model trains on label"
                            + " maps; remove it");
        }
        return targets.hasMasks() || pasteByBox ? Optional.empty() : Optional.of(BOXES_ALONE);
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return apply(sample, SamplePool.NONE, random);
    }

    @Override
    public Sample apply(Sample sample, SamplePool others, SplittableRandom random) {
        try (Sample other = others.sample(random)) {
            int objects = other.targets().size();
            return paste(
                    sample,
                    other,
                    selected
                            ? sampleObjects(objects, random)
                            : IntStream.range(0, objects).toArray());
        }
    }

    private int[] sampleObjects(int objects, SplittableRandom random) {
        int[] order = IntStream.range(0, objects).toArray();
        int[] picked = new int[random.nextInt(Math.min(objects + 1, maxNumPasted))];
        for (int i = 0; i < picked.length; i++) {
            int k = random.nextInt(i, objects);
            picked[i] = order[k];
            order[k] = order[i];
        }
        return picked;
    }

    /** Pastes the objects at the chosen indices of another sample, which is not changed. */
    public Sample paste(Sample sample, Sample other, int... chosen) {
        Size size = sample.info().size();
        Instances pasted = fit(withMasks(other).select(chosen), other.info().size(), size);
        if (pasted.size() == 0) {
            return sample;
        }
        Rle region = Rle.union(pasted.masks());
        Instances left = remaining(withMasks(sample), region);
        Instances all =
                Instances.groundTruth(
                                Boxes.concat(List.of(left.boxes(), pasted.boxes())),
                                Ints.concat(left.labels(), pasted.labels()))
                        .withIgnored(sample.targets().ignored());
        if (other.targets().hasMasks()) {
            all = all.withMasks(Stream.of(left, pasted).flatMap(o -> o.masks().stream()).toList());
        }
        Sample mixed = sample.with(copy(sample.image(), other.image(), region), sample.info(), all);
        return other.labels()
                .map(labels -> mixed.mapLabels(map -> map.paste(region, labels)))
                .orElse(mixed);
    }

    private Instances withMasks(Sample sample) {
        Instances objects = sample.targets();
        if (objects.hasMasks() || objects.size() == 0) {
            return objects;
        }
        if (!pasteByBox) {
            throw SaccadeException.user("%s", BOXES_ALONE);
        }
        Size size = sample.info().size();
        Boxes inside = objects.boxes().clip(size);
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < inside.size(); i++) {
            int left = (int) inside.x1(i);
            int top = (int) inside.y1(i);
            int width = (int) inside.x2(i) - left;
            int height = (int) inside.y2(i) - top;
            masks.add(
                    width > 0 && height > 0
                            ? Rle.fromBox(size, left, top, width, height)
                            : Rle.empty(size));
        }
        return objects.withMasks(masks);
    }

    private static Instances fit(Instances objects, Size from, Size to) {
        if (objects.size() == 0) {
            return objects;
        }
        Instances cut = from.equals(to) ? objects : cut(objects, commonSize(from, to), to);
        return cut.select(
                IntStream.range(0, cut.size())
                        .filter(i -> cut.boxes().area(i) > 0 && cut.mask(i).area() > 0)
                        .toArray());
    }

    private static Instances cut(Instances objects, Size common, Size to) {
        return objects.mapBoxes(boxes -> boxes.clip(common))
                .mapMasks(mask -> mask.crop(0, 0, common).place(0, 0, to));
    }

    private static Size commonSize(Size a, Size b) {
        return new Size(Math.min(a.height(), b.height()), Math.min(a.width(), b.width()));
    }

    /** Removes a region from objects, drops covered objects, and shrinks the boxes of the rest. */
    private Instances remaining(Instances objects, Rle region) {
        if (objects.size() == 0) {
            return objects;
        }
        Instances covered = objects.mapMasks(mask -> mask.minus(region));
        int[] kept =
                IntStream.range(0, objects.size())
                        .filter(i -> isKept(objects.boxes().select(i), covered.mask(i)))
                        .toArray();
        return covered.select(kept).boxesFromMasks();
    }

    private boolean isKept(Boxes before, Rle rest) {
        if (rest.area() > maskOccludedThr) {
            return true;
        }
        Rle.Bounds now = rest.bounds();
        return Math.abs(now.x() - before.x1(0)) <= bboxOccludedThr
                && Math.abs(now.y() - before.y1(0)) <= bboxOccludedThr
                && Math.abs(now.x() + now.width() - before.x2(0)) <= bboxOccludedThr
                && Math.abs(now.y() + now.height() - before.y2(0)) <= bboxOccludedThr;
    }

    /** Copies the first image, with a region replaced by the second. */
    private static Mat copy(Mat image, Mat other, Rle region) {
        Size size = region.size();
        Size common = commonSize(size, new Size(other.rows(), other.cols()));
        Mat mask = new Mat(common.height(), common.width(), CvType.CV_8UC1);
        mask.put(0, 0, region.crop(0, 0, common).decode());
        Rect frame = new Rect(0, 0, common.width(), common.height());
        Mat source = new Mat();
        other.submat(frame).convertTo(source, image.type());
        Mat mixed = image.clone();
        Mat target = mixed.submat(frame);
        source.copyTo(target, mask);
        Stream.of(mask, source, target).forEach(Mat::release);
        return mixed;
    }
}
