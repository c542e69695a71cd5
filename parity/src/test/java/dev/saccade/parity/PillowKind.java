package dev.saccade.parity;

import com.google.common.base.Ascii;
import com.google.common.base.CaseFormat;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.pillow.AugmentOperator;
import dev.saccade.datasets.pillow.CenterCrop;
import dev.saccade.datasets.pillow.ColorJitter;
import dev.saccade.datasets.pillow.Interpolation;
import dev.saccade.datasets.pillow.RandomResizedCrop;
import dev.saccade.datasets.pillow.ResizeEdge;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/** A transform of a classifier with recorded random values; pixels must be equal. */
final class PillowKind implements Kind {

    private interface PillowTransform {

        /** Transforms a sample and closes it. */
        Sample apply(Settings settings, Settings draw, Sample sample);
    }

    private final PillowTransform transform;

    private PillowKind(PillowTransform transform) {
        this.transform = transform;
    }

    /** Crops and resizes; resizes the whole image if no crop is recorded. */
    static PillowKind resizedCrop() {
        return new PillowKind(
                (settings, draw, sample) -> {
                    Size size = sample.info().size();
                    List<Integer> crop =
                            draw.integers("crop", List.of(0, 0, size.height(), size.width()));
                    return new RandomResizedCrop(
                                    draw.integers("size"),
                                    List.of(0.08, 1.0),
                                    List.of(0.75, 1.25),
                                    Interpolation.BICUBIC,
                                    false)
                            .crop(
                                    sample,
                                    new RandomResizedCrop.Crop(
                                            crop.get(0), crop.get(1), crop.get(2), crop.get(3)),
                                    interpolation(draw));
                });
    }

    static PillowKind resizeCenterCrop() {
        return new PillowKind(
                (settings, draw, sample) -> {
                    SplittableRandom unused = new SplittableRandom(0);
                    Sample resized =
                            new ResizeEdge(
                                            Optional.of(draw.integer("scale")),
                                            0.875,
                                            interpolation(draw))
                                    .apply(sample, unused);
                    return new CenterCrop(draw.integers("size")).apply(resized, unused);
                });
    }

    static PillowKind operator() {
        return new PillowKind(
                (settings, draw, sample) -> {
                    AugmentOperator operator =
                            AugmentOperator.valueOf(
                                    CaseFormat.UPPER_CAMEL.to(
                                            CaseFormat.UPPER_UNDERSCORE, draw.text("operator")));
                    AugmentOperator.Level level =
                            new AugmentOperator.Level(
                                    draw.number("magnitude"),
                                    draw.flag("negate"),
                                    interpolation(draw),
                                    settings.integers("fill"));
                    Mat changed = operator.apply(sample.image(), level);
                    return sample.with(changed, sample.info(), sample.targets());
                });
    }

    static PillowKind colorJitter() {
        return new PillowKind(
                (settings, draw, sample) -> {
                    Map<ColorJitter.Adjustment, Double> factors = new LinkedHashMap<>();
                    for (String name : draw.texts("order")) {
                        factors.put(
                                ColorJitter.Adjustment.valueOf(Ascii.toUpperCase(name)),
                                draw.number(name));
                    }
                    return ColorJitter.adjust(sample, factors);
                });
    }

    static Interpolation interpolation(Settings draw) {
        return Interpolation.valueOf(Ascii.toUpperCase(draw.text("interpolation")));
    }

    @Override
    public void run(Case recorded) {
        OpenCv.load();
        List<Settings> draws = recorded.settings().objects("draws");
        for (int k = 0; k < draws.size(); k++) {
            NumpyArray pixels = recorded.array("img" + draws.get(k).integer("image"));
            Size size = new Size(pixels.size(0), pixels.size(1));
            Sample sample = Sample.of(Pixels.mat(pixels, CvType.CV_8UC3), ImageInfo.of(size), 0);
            try (Sample result = transform.apply(recorded.settings(), draws.get(k), sample)) {
                recorded.compare("out" + k, Pixels.of(result.image()), Tolerance.EXACT);
            }
        }
    }
}
