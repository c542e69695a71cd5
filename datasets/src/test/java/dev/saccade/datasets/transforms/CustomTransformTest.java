package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.Test;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/** What a transform of one's own gives must fit together. */
class CustomTransformTest {

    static {
        OpenCv.load();
    }

    private static final Size SIZE = new Size(6, 8);

    @Component("own")
    private record Own(UnaryOperator<Sample> change) implements Transform {

        @Override
        public Sample apply(Sample sample, SplittableRandom random) {
            return change.apply(sample);
        }
    }

    private static Mat image(int height, int width) {
        return Mat.zeros(height, width, CvType.CV_8UC3);
    }

    private static Sample objects() {
        Instances object =
                Instances.groundTruth(Boxes.of(1, 1, 4, 4), 0)
                        .withMasks(List.of(Rle.fromBox(SIZE, 1, 1, 3, 3)));
        return Sample.of(image(6, 8), ImageInfo.of(SIZE), object);
    }

    private static Sample labels() {
        return Sample.of(image(6, 8), ImageInfo.of(SIZE), LabelMap.of(SIZE, new short[6 * 8]));
    }

    private static void assertTold(String told, Sample sample, UnaryOperator<Sample> change) {
        Own own = new Own(change);
        for (Transform step : List.of(own, new RandomChoice(List.of(List.of(own))))) {
            SaccadeException e =
                    assertThrows(
                            SaccadeException.class,
                            () ->
                                    Transform.applyAll(
                                            List.of(step), sample, new SplittableRandom(1)));
            assertEquals(SaccadeException.Kind.USER, e.kind());
            assertEquals("transform own: " + told, e.getMessage());
        }
    }

    @Test
    void requiresAnImageOfTheSizeInItsInfo() {
        String small = "returned an image of 3x4, but its info has 6x8";
        assertTold(small, objects(), s -> s.with(image(3, 4), s.info(), s.targets()));
        String large = "returned an image of 9x9, but its info has 6x8";
        assertTold(large, labels(), s -> s.with(image(9, 9), s.info(), s.targets()));
    }

    @Test
    void requiresMasksAndLabelsOfTheImageSize() {
        ImageInfo half = ImageInfo.of(SIZE).cropped(new Size(3, 4));
        String told = "returned masks or labels of 6x8, but its info has 3x4";
        assertTold(told, objects(), s -> s.with(image(3, 4), half, s.targets()));
        assertTold(told, labels(), s -> s.with(image(3, 4), half, s.targets()));
    }

    @Test
    void rejectsNull() {
        assertTold("returned null; expected a sample", objects(), s -> null);
    }

    @Test
    void acceptsConsistentSamples() {
        Own padding = new Own(s -> s.withPadding(new Size(16, 16)));
        for (Sample sample : List.of(objects(), labels())) {
            try (Sample padded =
                    Transform.applyAll(List.of(padding), sample, new SplittableRandom(1))) {
                assertEquals(new Size(16, 16), padded.info().padded());
                assertEquals(6, padded.image().rows());
            }
        }
    }
}
