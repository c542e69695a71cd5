package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Recorded;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.Test;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

/** InstaBoost equals what instaboostfast 0.1.2 does with the same random numbers. */
class InstaBoostTest {

    static {
        OpenCv.load();
    }

    /** Random numbers, the objects before and after, and the checksum of the image after. */
    record Case(
            List<InstaBoost.Move> moves,
            List<InstaBoostColors> colors,
            Recorded.Objects sample,
            Recorded.Objects result,
            long crc32) {}

    /** All cases. */
    record AllRecorded(List<Integer> size, List<Case> cases) {}

    private static AllRecorded recorded() throws IOException {
        return Recorded.read("instaboost.json", AllRecorded.class);
    }

    private static Sample sample(Size size, Instances objects) {
        byte[] pixels = new byte[3 * (int) size.area()];
        for (int i = 0; i < pixels.length; i++) {
            int channel = i % 3;
            int x = i / 3 % size.width();
            int y = i / 3 / size.width();
            pixels[i] = (byte) ((3 * x + 5 * y + 40 * channel + x * y * (channel + 3) % 23) % 120);
        }
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        image.put(0, 0, pixels);
        return Sample.of(image, ImageInfo.of(size), objects);
    }

    private static long checksum(Sample sample) {
        byte[] pixels = new byte[3 * (int) sample.info().size().area()];
        sample.image().get(0, 0, pixels);
        CRC32 sum = new CRC32();
        sum.update(pixels);
        return sum.getValue();
    }

    @Test
    void equalsInstaboostfast() throws IOException {
        AllRecorded all = recorded();
        Size size = new Size(all.size.get(0), all.size.get(1));
        assertEquals(6, all.cases.size());
        for (Case recorded : all.cases) {
            Sample sample = sample(size, recorded.sample.read(size));
            List<InstaBoost.Group> groups = InstaBoost.groups(sample.targets().boxes(), size);
            try (Sample moved =
                    InstaBoost.apply(
                            sample, groups, recorded.moves, recorded.colors.stream().findFirst())) {
                Instances expected = recorded.result.read(size);
                assertArrayEquals(expected.labels(), moved.targets().labels());
                assertEquals(expected.masks(), moved.targets().masks());
                assertEquals(expected.boxes(), moved.targets().boxes());
                assertEquals(recorded.crc32, checksum(moved));
            }
        }
    }

    @Test
    void dependsOnlyOnTheSeed() throws IOException {
        AllRecorded all = recorded();
        Size size = new Size(all.size.get(0), all.size.get(1));
        Instances objects = all.cases.get(0).sample.read(size);
        InstaBoost boost = Configs.of(InstaBoost.class, "aug_ratio=1", "dx=4", "dy=4");
        long[] sums = new long[3];
        for (int i = 0; i < 3; i++) {
            SplittableRandom random = new SplittableRandom(i / 2);
            try (Sample moved = boost.apply(sample(size, objects), random)) {
                sums[i] = checksum(moved);
            }
        }
        assertEquals(sums[0], sums[1]);
        assertNotEquals(sums[0], sums[2]);
    }

    @Test
    void skipsImagesWithTheGivenProbability() throws IOException {
        Size size = new Size(20, 30);
        InstaBoost never = Configs.of(InstaBoost.class, "aug_ratio=0");
        try (Sample sample = sample(size, Instances.empty())) {
            assertSame(sample, never.apply(sample, new SplittableRandom(0)));
        }
    }

    /** As in the original, an image without objects may still change its colors. */
    @Test
    void changesColorsOfImagesWithoutObjects() {
        Size size = new Size(20, 30);
        InstaBoost boost = Configs.of(InstaBoost.class, "aug_ratio=1", "color_prob=1");
        Sample sample = sample(size, Instances.empty());
        long before = checksum(sample);
        try (Sample changed = boost.apply(sample, new SplittableRandom(1))) {
            assertEquals(0, changed.targets().size());
            assertNotEquals(before, checksum(changed));
        }
    }

    @Test
    void needsMasks() {
        InstaBoost boost = Configs.of(InstaBoost.class);
        assertTrue(boost.incompatibility(TargetKind.BOXES).orElseThrow().contains("masks"));
        assertTrue(boost.incompatibility(TargetKind.MASKS_AND_LABEL_MAPS).isEmpty());
    }
}
