package dev.saccade.datasets.folds;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class FoldDatasetTest {

    private static final Size SIZE = new Size(40, 50);

    @TempDir Path folder;

    /** Images by name with the classes of their objects or label maps. */
    private record Labeled(List<String> names, List<Set<Integer>> labels, boolean maps)
            implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("common", "rare", "seldom");
        }

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, names.size())
                    .mapToObj(i -> new ImageFile(i, Path.of(names.get(i)), SIZE))
                    .toList();
        }

        @Override
        public List<Annotation> annotations(int index) {
            return maps
                    ? List.of()
                    : labels.get(index).stream()
                            .map(label -> Annotation.of(label, label, 1, 1, 9, 9))
                            .toList();
        }

        @Override
        public LabelMap labels(int index) {
            if (!maps) {
                return Dataset.super.labels(index);
            }
            short[] pixels = new short[(int) SIZE.area()];
            List<Integer> used = List.copyOf(labels.get(index));
            Arrays.fill(pixels, (short) LabelMap.IGNORE);
            for (int i = 0; i < used.size(); i++) {
                pixels[i] = used.get(i).shortValue();
            }
            return LabelMap.of(SIZE, pixels);
        }

        Labeled permuted(long seed) {
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, names.size()).boxed().toList());
            Collections.shuffle(order, new Random(seed));
            return new Labeled(
                    order.stream().map(i -> "elsewhere/" + names.get(i)).toList(),
                    order.stream().map(labels::get).toList(),
                    maps);
        }
    }

    /** Class 0 is in most images, class 1 in 7 and class 2 in about a fifth; some have none. */
    private static Labeled dataset(boolean maps) {
        List<String> names = new ArrayList<>();
        List<Set<Integer>> labels = new ArrayList<>();
        SplittableRandom random = SeededRandom.of(3);
        for (int i = 0; i < 103; i++) {
            names.add("img_" + i + ".jpg");
            Set<Integer> own = new TreeSet<>();
            if (random.nextInt(10) > 1) {
                own.add(0);
            }
            if (i % 15 == 4) {
                own.add(1);
            }
            if (random.nextInt(5) == 0) {
                own.add(2);
            }
            labels.add(own);
        }
        return new Labeled(names, labels, maps);
    }

    @Test
    void balancesClassesAndSizes() {
        Labeled dataset = dataset(false);
        int[] foldOf = StratifiedFolds.split(dataset, 5, 0);
        int[] sizes = new int[5];
        int[][] counts = new int[3][5];
        for (int i = 0; i < foldOf.length; i++) {
            sizes[foldOf[i]]++;
            for (int label : dataset.labels.get(i)) {
                counts[label][foldOf[i]]++;
            }
        }
        assertTrue(spread(sizes) <= 1, Arrays.toString(sizes));
        assertTrue(spread(counts[0]) <= 3, Arrays.toString(counts[0]));
        assertTrue(spread(counts[1]) <= 1, Arrays.toString(counts[1]));
        assertTrue(spread(counts[2]) <= 1, Arrays.toString(counts[2]));
        assertTrue(Arrays.stream(counts[1]).allMatch(n -> n >= 1));
    }

    private static int spread(int[] counts) {
        return Arrays.stream(counts).max().orElseThrow()
                - Arrays.stream(counts).min().orElseThrow();
    }

    @Test
    void dependsOnNamesAndSeedOnly() {
        Labeled dataset = dataset(false);
        Map<String, Integer> expected = byName(dataset, 0);
        assertEquals(expected, byName(dataset.permuted(1), 0));
        assertFalse(expected.equals(byName(dataset, 1)));
    }

    private static Map<String, Integer> byName(Labeled dataset, long seed) {
        int[] foldOf = StratifiedFolds.split(dataset, 4, seed);
        Map<String, Integer> byName = new HashMap<>();
        for (int i = 0; i < foldOf.length; i++) {
            byName.put(dataset.image(i).file().getFileName().toString(), foldOf[i]);
        }
        return byName;
    }

    @Test
    void balancesLabelMapsLikeObjects() {
        assertArrayEquals(
                StratifiedFolds.split(dataset(false), 3, 7),
                StratifiedFolds.split(dataset(true), 3, 7));
    }

    @Test
    void splitsConfiguredDataSets() throws IOException {
        writeAnnotations(
                IntStream.range(0, 6)
                        .mapToObj(FoldDatasetTest::image)
                        .collect(Collectors.joining(",")));
        String coco = "dataset={type: coco, annotations: a.json, images: .}";
        Set<Long> held = new TreeSet<>();
        for (int fold = 0; fold < 3; fold++) {
            Set<Long> train = ids(coco, "folds=3", "index=" + fold);
            Set<Long> val = ids(coco, "folds=3", "index=" + fold, "part=val");
            assertEquals(2, val.size());
            assertEquals(4, train.size());
            assertTrue(Collections.disjoint(train, val));
            held.addAll(val);
        }
        assertEquals(6, held.size());
        SaccadeException many = assertThrows(SaccadeException.class, () -> ids(coco, "folds=7"));
        assertEquals(
                "fold: got 7 folds for 6 images, expected at most one fold per image; lower folds",
                many.getMessage());
    }

    @Test
    void checksTheImagesOfItsPart() throws IOException {
        Files.createDirectories(folder.resolve("images"));
        StringBuilder images = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            OpenCv.load();
            Path file = folder.resolve("images/" + i + ".png");
            Imgcodecs.imwrite(file.toString(), new Mat(40, 50, CvType.CV_8UC3, new Scalar(9 * i)));
            images.append(i == 0 ? "" : ",").append(image(i));
        }
        writeAnnotations(images.toString());
        FoldDataset.Config val =
                Configs.of(
                        FoldDataset.Config.class,
                        "dataset={type: coco, annotations: a.json, images: images}",
                        "folds=3",
                        "part=val");
        CheckOptions options = new CheckOptions(true, TargetKind.BOXES, 1, () -> {});
        DatasetReport report = val.check(folder, options);
        assertEquals(List.of(), report.messages(Finding.Severity.ERROR));
        assertEquals(2, ((ObjectStatistics) report.statistics()).images());
        Files.writeString(val.open(folder).image(0).file(), "no image");
        assertEquals(1, val.check(folder, options).errors());
        FoldDataset.Config many = Configs.with(val, "folds=7");
        assertTrue(many.check(folder, options).errors() > 0);
    }

    private static String image(int id) {
        return Text.format(
                "{\"id\": %d, \"width\": 50, \"height\": 40, \"file_name\": \"%d.png\"}", id, id);
    }

    private void writeAnnotations(String images) throws IOException {
        Files.writeString(
                folder.resolve("a.json"),
                Text.format(
                        """
                        {"categories": [{"id": 3, "name": "cell"}],
                         "images": [%s],
                         "annotations": [{"id": 1, "image_id": 2, "category_id": 3,
                          "bbox": [1, 1, 20, 20], "area": 400}]}
                        """,
                        images));
    }

    private Set<Long> ids(String... settings) {
        Set<Long> ids = new TreeSet<>();
        Dataset part = Configs.of(FoldDataset.Config.class, settings).open(folder);
        part.images().forEach(image -> ids.add(image.id()));
        return ids;
    }

    @Test
    void rejectsWrongSettings() {
        for (List<String> wrong :
                List.of(
                        List.of("folds=1", "expected at least 2"),
                        List.of("index=5", "expected at most 4"),
                        List.of(
                                "dataset={type: class_balanced}",
                                "a data set without repeated images; wrap fold in"
                                        + " this data set instead"))) {
            SaccadeException error =
                    assertThrows(
                            SaccadeException.class,
                            () -> Configs.of(FoldDataset.Config.class, wrong.get(0)));
            assertTrue(error.getMessage().contains(wrong.get(1)), error.getMessage());
        }
    }
}
