package dev.saccade.datasets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.transforms.CopyPaste;

import org.junit.jupiter.api.Test;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/** Copy-paste and repeat factors equal what mmdetection 3.3.0 made of the same input. */
class RecordedTest {

    static {
        OpenCv.load();
    }

    /** What was pasted, and the objects and the check sum of the pixels thereafter. */
    record Pasted(
            CopyPaste settings,
            List<Integer> chosen,
            Recorded.Objects sample,
            Recorded.Objects other,
            Recorded.Objects result,
            long crc32) {}

    /** All that was pasted, in images of one size. */
    record AllPasted(List<Integer> size, List<Pasted> cases) {}

    /** The classes of images, and which are shown in which order. */
    record Balanced(double threshold, List<List<Integer>> classes, List<Integer> positions) {}

    /** All data sets. */
    record AllBalanced(List<Balanced> cases) {}

    /** The pixels of a recorded image follow from their positions. */
    private static Sample sample(Size size, int factor, int offset, Instances objects) {
        byte[] pixels = new byte[3 * (int) size.area()];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) (factor * i + offset);
        }
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        image.put(0, 0, pixels);
        return Sample.of(image, ImageInfo.of(size), objects);
    }

    @Test
    void pastesLikeMmdetection() throws IOException {
        AllPasted all = Recorded.read("copy_paste.json", AllPasted.class);
        Size size = new Size(all.size.get(0), all.size.get(1));
        assertEquals(7, all.cases.size());
        for (Pasted recorded : all.cases) {
            Sample sample = sample(size, 1, 0, recorded.sample.read(size));
            int[] chosen = recorded.chosen.stream().mapToInt(Integer::intValue).toArray();
            try (Sample other = sample(size, 7, 3, recorded.other.read(size));
                    Sample mixed = recorded.settings.paste(sample, other, chosen)) {
                Instances expected = recorded.result.read(size);
                assertEquals(expected.boxes(), mixed.targets().boxes());
                assertArrayEquals(expected.labels(), mixed.targets().labels());
                assertEquals(expected.masks(), mixed.targets().masks());
                byte[] pixels = new byte[3 * (int) size.area()];
                mixed.image().get(0, 0, pixels);
                CRC32 sum = new CRC32();
                sum.update(pixels);
                assertEquals(recorded.crc32, sum.getValue());
            }
        }
    }

    /** Images that show an object of each of some classes, or of none that is wanted. */
    private record Shown(List<List<Integer>> labels) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("a", "b", "c", "d", "e", "f");
        }

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, labels.size())
                    .mapToObj(i -> new ImageFile(i, Path.of(i + ".jpg"), new Size(40, 50)))
                    .toList();
        }

        @Override
        public List<Annotation> annotations(int index) {
            // One that is too thin to learn has each image trained on, as the recorded ones.
            return IntStream.rangeClosed(0, labels.get(index).size())
                    .mapToObj(
                            i ->
                                    i == 0
                                            ? Annotation.of(0, 5, 1, 1, 0.5, 9)
                                            : Annotation.of(
                                                    i, labels.get(index).get(i - 1), 1, 1, 9, 9))
                    .toList();
        }
    }

    @Test
    void repeatsLikeMmdetection() throws IOException {
        AllBalanced all = Recorded.read("class_balanced.json", AllBalanced.class);
        assertEquals(4, all.cases.size());
        for (Balanced recorded : all.cases) {
            ClassBalancedDataset balanced =
                    new ClassBalancedDataset(new Shown(recorded.classes), recorded.threshold, true);
            assertEquals(
                    recorded.positions,
                    balanced.images().stream().map(image -> (int) image.id()).toList());
            HashSet<List<Long>> repetitions = new HashSet<>();
            for (int i = 0; i < balanced.size(); i++) {
                repetitions.add(List.of(balanced.image(i).id(), (long) balanced.repetition(i)));
            }
            assertEquals(balanced.size(), repetitions.size());
        }
    }
}
