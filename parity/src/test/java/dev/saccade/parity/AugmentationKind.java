package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.transforms.MixUp;
import dev.saccade.datasets.transforms.Mosaic;
import dev.saccade.datasets.transforms.RandomAffine;
import dev.saccade.datasets.transforms.RandomErasing;
import dev.saccade.datasets.transforms.RandomRotate90;

import org.opencv.core.CvType;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * An augmentation with recorded random values: pixels within one gray level, boxes within 1e-4, and
 * exact masks and label maps.
 */
final class AugmentationKind implements Kind {

    private static final Tolerance GRAY_LEVEL = Tolerance.absolute(1);
    private static final Tolerance BOXES = Tolerance.absolute(1e-4);
    private static final int IGNORED = 255;

    private interface Augmentation {

        /** Augments the first sample; consumes it and closes none of the others. */
        Sample apply(Settings settings, Settings draw, List<Sample> samples);
    }

    private final Augmentation augmentation;

    private AugmentationKind(Augmentation augmentation) {
        this.augmentation = augmentation;
    }

    static AugmentationKind mosaic() {
        return new AugmentationKind(
                (settings, draw, samples) -> {
                    List<Integer> center = draw.integers("center");
                    Iterator<Sample> others = samples.subList(1, 4).iterator();
                    return new Mosaic(settings.integers("img_scale"), List.of(0.5, 1.5), 114, 1)
                            .combine(samples.get(0), others::next, center.get(0), center.get(1));
                });
    }

    static AugmentationKind mixUp() {
        return new AugmentationKind(
                (settings, draw, samples) ->
                        new MixUp(
                                        settings.integers("img_scale"),
                                        List.of(0.5, 1.5),
                                        0.5,
                                        114,
                                        15,
                                        1)
                                .mix(
                                        samples.get(0),
                                        samples.get(1),
                                        new MixUp.Parameters(
                                                draw.number("ratio"),
                                                draw.flag("flip"),
                                                draw.integer("left"),
                                                draw.integer("top"))));
    }

    static AugmentationKind randomAffine() {
        return new AugmentationKind(
                (settings, draw, samples) -> {
                    List<Double> values = draw.numbers("values");
                    RandomAffine affine =
                            new RandomAffine(
                                    40,
                                    0.1,
                                    List.of(0.5, 1.5),
                                    10,
                                    draw.integers("border"),
                                    settings.integers("border_val"),
                                    false,
                                    1);
                    return affine.warp(
                            samples.get(0),
                            new RandomAffine.Parameters(
                                    values.get(0),
                                    values.get(1),
                                    values.get(2),
                                    values.get(3),
                                    values.get(4),
                                    values.get(5)));
                });
    }

    static AugmentationKind randomErasing() {
        return new AugmentationKind(
                (settings, draw, samples) ->
                        new RandomErasing(
                                        List.of(2, 4),
                                        List.of(0.0, 1.0),
                                        true,
                                        settings.number("bbox_erased_thr"),
                                        settings.numbers("img_border_value"),
                                        1)
                                .erase(
                                        samples.get(0),
                                        draw.lists("patches").stream()
                                                .map(AugmentationKind::patch)
                                                .toList()));
    }

    private static RandomErasing.Patch patch(List<Double> edges) {
        int[] xyxy = edges.stream().mapToInt(Double::intValue).toArray();
        return new RandomErasing.Patch(xyxy[0], xyxy[1], xyxy[2], xyxy[3]);
    }

    static AugmentationKind randomRotate90() {
        return new AugmentationKind(
                (settings, draw, samples) ->
                        RandomRotate90.rotate(samples.get(0), draw.integer("turns")));
    }

    @Override
    public void run(Case recorded) {
        OpenCv.load();
        List<Settings> draws = recorded.settings().objects("draws");
        for (int k = 0; k < draws.size(); k++) {
            String prefix = "out" + k + "_";
            try (Sample boxes = apply(recorded, draws.get(k), false)) {
                compareBoxes(recorded, prefix, boxes);
            }
            try (Sample masks = apply(recorded, draws.get(k), true)) {
                compareMasks(recorded, prefix, masks);
            }
        }
    }

    private Sample apply(Case recorded, Settings draw, boolean masks) {
        int count = recorded.names("img").size();
        List<Sample> samples =
                IntStream.range(0, count).mapToObj(k -> sample(recorded, k, masks)).toList();
        try {
            return augmentation.apply(recorded.settings(), draw, samples);
        } finally {
            samples.stream().skip(1).forEach(Sample::close);
        }
    }

    private static Sample sample(Case recorded, int k, boolean masks) {
        NumpyArray pixels = recorded.array("img" + k);
        Size size = new Size(pixels.size(0), pixels.size(1));
        Instances objects =
                Instances.groundTruth(
                                Boxes.of(recorded.array("boxes" + k).floats()),
                                recorded.array("labels" + k).ints())
                        .withIgnored(Boxes.of(recorded.array("ignored" + k).floats()));
        NumpyArray shape = NumpyArray.of(objects.size(), size.height(), size.width());
        NumpyArray bitmaps = recorded.array("masks" + k).unpackBits(shape);
        LabelMap labels = labels(recorded.array("seg" + k), size);
        return new Sample(
                Pixels.mat(pixels, CvType.CV_8UC3),
                ImageInfo.of(size),
                masks ? objects.withMasks(masks(bitmaps)) : objects,
                masks ? Optional.of(labels) : Optional.empty(),
                OptionalInt.empty(),
                Optional.empty(),
                false);
    }

    private static LabelMap labels(NumpyArray seg, Size size) {
        short[] labels = new short[seg.size()];
        for (int i = 0; i < labels.length; i++) {
            int value = (int) seg.values()[i];
            labels[i] = (short) (value == IGNORED ? LabelMap.IGNORE : value);
        }
        return LabelMap.of(size, labels);
    }

    private static List<Rle> masks(NumpyArray bitmaps) {
        Size size = new Size(bitmaps.size(1), bitmaps.size(2));
        int area = Math.toIntExact(size.area());
        byte[] all = bitmaps.bytes();
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < bitmaps.size(0); i++) {
            masks.add(Rle.encode(size, Arrays.copyOfRange(all, i * area, (i + 1) * area)));
        }
        return masks;
    }

    private static void compareBoxes(Case recorded, String prefix, Sample sample) {
        Instances objects = sample.targets();
        recorded.compare(prefix + "img", Pixels.of(sample.image()), GRAY_LEVEL);
        recorded.compare(prefix + "boxes", rows(objects.boxes()), BOXES);
        recorded.compare(prefix + "ignored", rows(objects.ignored()), BOXES);
        recorded.compare(prefix + "labels", NumpyArray.of(objects.labels()), Tolerance.EXACT);
    }

    private static NumpyArray rows(Boxes boxes) {
        return NumpyArray.of(boxes.toArray()).reshape(boxes.size(), 4);
    }

    /** Compares masks, of which none is empty, and the label map. */
    private static void compareMasks(Case recorded, String prefix, Sample sample) {
        NumpyArray shape = recorded.array(prefix + "masks_shape");
        NumpyArray bitmaps = recorded.array(prefix + "masks").unpackBits(shape);
        List<Rle> expected = masks(bitmaps).stream().filter(mask -> mask.area() > 0).toList();
        assertEquals(expected, sample.targets().masks());
        Optional<LabelMap> labels = sample.labels();
        if (recorded.has(prefix + "seg")) {
            NumpyArray seg = recorded.array(prefix + "seg");
            assertEquals(labels(seg, sample.info().size()), labels.orElseThrow());
        }
    }
}
