package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.check.SplitComparison;
import dev.saccade.datasets.image.ImageFiles;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.loader.SampleReader;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class WebDatasetTest {

    private static final CheckOptions OPTIONS =
            new CheckOptions(true, TargetKind.CLASSES, 1, () -> {});

    @TempDir Path root;

    private static WebDataset.Config config(int buffer, List<String> shards, String... classes) {
        return new WebDataset.Config(shards, List.of(classes), Optional.empty(), buffer);
    }

    private WebDataset open(String... classes) {
        return config(10_000, List.of("*.tar"), classes).open(root);
    }

    private String failure(String... classes) {
        SaccadeException failure = assertThrows(SaccadeException.class, () -> open(classes));
        assertEquals(SaccadeException.Kind.USER, failure.kind());
        return failure.getMessage();
    }

    private static ImmutableIntArray labels(WebDataset dataset) {
        return ImmutableIntArray.copyOf(
                IntStream.range(0, dataset.size()).map(i -> dataset.label(i).orElseThrow()));
    }

    @Test
    void findsDuplicatesWithoutDecoding() {
        new Shards()
                .image("a.jpg", 20, 10)
                .text("a.cls", "dog")
                .image("b.jpg", 30, 10)
                .text("b.cls", "dog")
                .write(root.resolve("0.tar"));
        new Shards().image("c.jpg", 20, 10).text("c.cls", "cat").write(root.resolve("1.tar"));
        SplitComparison comparison = new SplitComparison();
        CheckOptions quick = new CheckOptions(false, TargetKind.CLASSES, 1, () -> {});
        Map<String, DatasetReport> reports = new HashMap<>();
        reports.put(
                "train",
                config(1, List.of("*.tar"), "cat", "dog")
                        .check(root, quick.with(comparison.split("train"))));
        comparison.complete(reports, name -> name);
        assertEquals(
                List.of(
                        root.resolve("1.tar/c.jpg")
                                + ": image 3: has the same content as image 1 ("
                                + root.resolve("0.tar/a.jpg")
                                + "); keep one of them, with the correct labels"),
                reports.get("train").messages(Finding.Severity.WARNING));
    }

    @Test
    void readsImagesAndLabelsInPlace() {
        new Shards()
                .image("./b.jpg", 20, 10)
                .text("./b.cls", "dog\n")
                .image("deep/a.jpeg", 30, 40)
                .text("deep/a.cls", "0")
                .image("c.jpg", 8, 9)
                .text("c.json", "{\"meta\": {\"label\": 7}, \"label\": 1}")
                .write(root.resolve("0.tar"));
        new Shards()
                .text("d.json", "{\"label\": \"cat\"}")
                .image("d.png", 5, 6)
                .write(root.resolve("1.tar"));
        WebDataset dataset = open("cat", "dog");
        assertEquals(ImmutableIntArray.of(1, 0, 1, 0), labels(dataset));
        assertEquals(root.resolve("0.tar/b.jpg"), dataset.image(0).file());
        assertEquals(root.resolve("0.tar/deep/a.jpeg"), dataset.image(1).file());
        assertEquals(new Size(40, 30), dataset.image(1).size());
        assertEquals(4, dataset.image(3).id());
        assertArrayEquals(ImageFiles.jpeg(30, 40), ImageReader.readBytes(dataset.image(1).file()));
        try (Sample sample =
                new SampleReader(dataset, List.of(), TargetKind.CLASSES).trainingSample(0, 1, 0)) {
            assertEquals(new Size(10, 20), sample.info().size());
            assertEquals(1, sample.label().orElseThrow());
        }
        DatasetReport report = config(1, List.of("*.tar"), "cat", "dog").check(root, OPTIONS);
        assertEquals(new ImageLabelStatistics(Map.of("cat", 2, "dog", 2)), report.statistics());
        assertEquals(0, report.errors(), report.findings().toString());
    }

    @Test
    void namesAreTheClassesUnlessListed() throws IOException {
        new Shards()
                .image("a.jpg", 8, 8)
                .text("a.cls", "dog")
                .image("b.jpg", 8, 8)
                .text("b.cls", "cat")
                .write(root.resolve("0.tar"));
        assertEquals(List.of("cat", "dog"), open().classes());
        Files.writeString(root.resolve("classes.txt"), "dog\ncow\ncat\n\n");
        WebDataset dataset =
                new WebDataset.Config(List.of("0.tar"), List.of(), Optional.of("classes.txt"), 10)
                        .open(root);
        assertEquals(List.of("dog", "cow", "cat"), dataset.classes());
        assertEquals(ImmutableIntArray.of(0, 2), labels(dataset));
        String unknown = failure("dog", "cow");
        assertTrue(
                unknown.contains(
                        "b.jpg: got label \"cat\", expected a class name or an index from 0 to 1"),
                unknown);
    }

    @Test
    void indicesNeedClassNames() {
        new Shards().image("a.jpg", 8, 8).text("a.cls", "3").write(root.resolve("0.tar"));
        assertTrue(failure().contains("labels are class indices, but no class names are set"));
        assertTrue(failure("cat", "dog").contains("got label \"3\""));
    }

    @Test
    void reportsSkippedFiles() {
        new Shards()
                .image("a.jpg", 8, 8)
                .text("a.cls", "cat")
                .text("a.txt", "a cat")
                .image("a.seg.png", 8, 8)
                .image("b.jpg", 8, 8)
                .text("c.cls", "cat")
                .text(".hidden", "")
                .write(root.resolve("0.tar"));
        DatasetReport report = config(1, List.of("0.tar")).check(root, OPTIONS);
        assertEquals(0, report.errors(), report.findings().toString());
        String shard = root.resolve("0.tar").toString();
        assertEquals(
                List.of(
                        shard + skipped("*.seg.png"),
                        shard + skipped("*.txt"),
                        shard + skipped("hidden files"),
                        shard + ": skips 2 samples without image or label: b, c"),
                report.messages(Finding.Severity.WARNING));
    }

    private static String skipped(String files) {
        return ": skips 1 file ("
                + files
                + "); only KEY.cls, KEY.json and images such as KEY.jpg are read";
    }

    @Test
    void rejectsLinksUnsafeNamesAndDuplicates() {
        new Shards()
                .image("a.jpg", 8, 8)
                .text("a.cls", "cat")
                .link("b.jpg", "/etc/passwd")
                .image("/c.jpg", 8, 8)
                .image("x/../../d.jpg", 8, 8)
                .text("a.cls", "dog")
                .image("a.png", 8, 8)
                .write(root.resolve("0.tar"));
        String message = failure();
        assertTrue(message.contains("b.jpg: is a link"), message);
        assertTrue(message.contains("/c.jpg: has an absolute path"), message);
        assertTrue(message.contains("x/../../d.jpg: has an absolute path or \"..\""), message);
        assertTrue(message.contains("a.cls: occurs twice"), message);
        assertTrue(message.contains("a.jpg and a.png have the same key"), message);
    }

    @Test
    void rejectsTruncatedAndCompressedArchives() throws IOException {
        byte[] whole = new Shards().image("a.jpg", 50, 50).text("a.cls", "cat").bytes();
        int end = 0;
        for (int i = 0; i < whole.length; i++) {
            end = whole[i] != 0 ? i + 1 : end;
        }
        int blocks = (end + 511) / 512;
        for (int length : new int[] {1, 300, 512, 700, 1024, blocks * 512 - 200, blocks * 512}) {
            Files.write(root.resolve("0.tar"), Arrays.copyOf(whole, length));
            String message = failure("cat");
            assertTrue(message.contains("0.tar: is not an uncompressed tar archive"), message);
        }
        Files.write(root.resolve("0.tar"), new byte[] {0x1F, (byte) 0x8B, 8, 0, 1, 2, 3, 4});
        assertTrue(failure("cat").contains("decompress it"));
        Files.write(root.resolve("0.tar"), whole);
        assertEquals(1, open("cat").size());
    }

    @Test
    void rejectsSizesBeyondTheArchive() throws IOException {
        byte[] bytes = new Shards().image("a.jpg", 20, 20).text("a.cls", "cat").bytes();
        byte[] size = "77777777777 ".getBytes(US_ASCII);
        System.arraycopy(size, 0, bytes, 124, size.length);
        setChecksum(bytes);
        Files.write(root.resolve("0.tar"), bytes);
        String message = failure("cat");
        assertTrue(message.contains("0.tar: is not an uncompressed tar archive"), message);
    }

    private static void setChecksum(byte[] header) {
        Arrays.fill(header, 148, 156, (byte) ' ');
        int sum = 0;
        for (int i = 0; i < 512; i++) {
            sum += header[i] & 0xFF;
        }
        for (int i = 0; i < 6; i++) {
            header[148 + i] = (byte) ('0' + (sum >> (3 * (5 - i)) & 7));
        }
        header[154] = 0;
    }

    @Test
    void damagedArchivesAreUserErrors() throws IOException {
        byte[] whole = new Shards().image("a.jpg", 9, 9).text("a.cls", "cat").bytes();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 300; i++) {
            byte[] damaged = whole.clone();
            for (int k = random.nextInt(1, 5); k > 0; k--) {
                damaged[random.nextInt(512)] = (byte) random.nextInt(256);
            }
            if (i % 2 == 0) {
                setChecksum(damaged);
            }
            Files.write(root.resolve("0.tar"), damaged);
            try {
                open("cat");
            } catch (SaccadeException e) {
                assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
            }
        }
    }

    @Test
    void findsShardsByPattern() {
        for (int i = 8; i < 12; i++) {
            new Shards()
                    .image("a.jpg", 8, 8)
                    .text("a.cls", "" + i % 2)
                    .write(root.resolve((i < 10 ? "train-0" : "train-") + i + ".tar"));
        }
        WebDataset range = config(9, List.of("train-{09..11}.tar"), "cat", "dog").open(root);
        assertEquals(ImmutableIntArray.of(1, 0, 1), labels(range));
        assertEquals(root.resolve("train-09.tar/a.jpg"), range.image(0).file());
        assertEquals(
                4, config(9, List.of("train-*.tar", "train-08.tar"), "a", "b").open(root).size());
        SaccadeException missing =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                config(9, List.of("train-{11..13}.tar", "val-*.tar"), "a")
                                        .open(root));
        for (String name : List.of("train-12.tar", "train-13.tar", "val-*.tar")) {
            assertTrue(
                    missing.getMessage().contains(name + ": no such file"), missing.getMessage());
        }
    }

    @Test
    void shufflesShardsAndThenImagesInABuffer() {
        for (int shard = 0; shard < 4; shard++) {
            Shards tar = new Shards();
            for (int i = 0; i < 10; i++) {
                tar.image(i + ".jpg", 4, 4).text(i + ".cls", "cat");
            }
            tar.write(root.resolve(shard + ".tar"));
        }
        for (int buffer : new int[] {1, 7, 40, 1000}) {
            WebDataset dataset = config(buffer, List.of("*.tar")).open(root);
            ImmutableIntArray order = dataset.shuffled(SeededRandom.of(1, 2));
            assertEquals(40, new HashSet<>(order.asList()).size());
            assertEquals(order, dataset.shuffled(SeededRandom.of(1, 2)));
            assertNotEquals(order, dataset.shuffled(SeededRandom.of(1, 3)));
        }
        ImmutableIntArray sequential =
                config(1, List.of("*.tar")).open(root).shuffled(SeededRandom.of(5, 0));
        for (int i = 0; i < 40; i++) {
            assertEquals(i % 10, sequential.get(i) % 10);
            assertEquals(sequential.get(i / 10 * 10) / 10, sequential.get(i) / 10);
        }
    }

    @Test
    void readsAChangedArchiveAgain() throws IOException {
        Path file = root.resolve("0.tar");
        new Shards().image("a.jpg", 8, 8).text("a.cls", "cat").write(file);
        assertEquals(1, open().size());
        new Shards()
                .image("a.jpg", 8, 8)
                .text("a.cls", "cat")
                .image("b.jpg", 9, 9)
                .text("b.cls", "dog")
                .write(file);
        assertEquals(2, open().size());
        SaccadeException missing =
                assertThrows(
                        SaccadeException.class, () -> ImageReader.readBytes(file.resolve("c.jpg")));
        assertTrue(missing.getMessage().contains("c.jpg: no such file; "), missing.getMessage());
    }
}
