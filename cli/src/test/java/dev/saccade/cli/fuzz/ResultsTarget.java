package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.IouType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** COCO's result files. What is accepted is the same when it is written and read again. */
record ResultsTarget(String name, IouType iouType) implements FuzzTarget {

    private static final Path FILE = Path.of("results.json");

    /** Two images and two classes. */
    private static final class Known implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("cat", "dog");
        }

        @Override
        public List<ImageFile> images() {
            Size size = new Size(3, 4);
            return List.of(
                    new ImageFile(1, Path.of("a.jpg"), size),
                    new ImageFile(7, Path.of("b.jpg"), size));
        }
    }

    @Override
    public Format format() {
        return Format.TEXT;
    }

    @Override
    public List<byte[]> seeds() {
        return Texts.all(
                """
                [{"image_id": 1, "category_id": 1, "bbox": [1.5, 2, 30, 20.25], "score": 0.9,
                  "segmentation": {"size": [3, 4], "counts": "52203"}},
                 {"image_id": 7, "category_id": 2, "bbox": [0, 0, 1e0, 3], "score": 1e-3,
                  "segmentation": {"size": [3, 4], "counts": [5, 2, 5]}, "other": [{"a": null}]}]
                """,
                """
                [{"score": 0.123456789012345678, "segmentation": {"counts": [12], "size": [3, 4]},
                  "bbox": [-1, -2.5, 0, 0], "category_id": 2, "image_id": 7}]
                """,
                "[]");
    }

    @Override
    public List<byte[]> words() {
        return Texts.split(
                "\"image_id\": |\"category_id\": |\"bbox\": [|\"score\": |"
                        + "\"size\": [|\"segmentation\": {|\"counts\": |\"counts\": [");
    }

    @Override
    public void enter(byte[] input) throws IOException {
        Files.write(FILE, input);
        String once = writtenAgain();
        assertEquals(once, writtenAgain());
    }

    private String writtenAgain() throws IOException {
        Dataset dataset = new Known();
        CocoResults.write(FILE, dataset, CocoResults.read(FILE, dataset, iouType), iouType);
        return Files.readString(FILE);
    }
}
