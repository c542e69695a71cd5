package dev.saccade.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.lit;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.testsupport.TinyModel;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Detectors on the photographs of a table. */
class SparkDetectorTest {

    private static final SparkSession SPARK = SparkFixtures.spark();

    @TempDir static Path folder;
    private static Path photos;
    private static Path retinaNet;

    @BeforeAll
    static void write() throws IOException {
        photos = SparkFixtures.photos(folder.resolve("photos"));
        retinaNet =
                SparkFixtures.checkpoint(folder.resolve("retina.safetensors"), TinyModel.RETINANET);
    }

    private static Dataset<Row> files() {
        return SPARK.read().format("binaryFile").load(photos.toString());
    }

    private static List<DetectedObject> objects(Row row) {
        List<DetectedObject> objects = new ArrayList<>();
        for (Row object : row.<Row>getList(row.fieldIndex("objects"))) {
            objects.add(object(object));
        }
        return objects;
    }

    private static DetectedObject object(Row row) {
        Row mask = row.getAs("mask");
        return new DetectedObject(
                row.getAs("label"),
                row.<Integer>getAs("class_index"),
                row.<Double>getAs("score"),
                new Box(row.getAs("x1"), row.getAs("y1"), row.getAs("x2"), row.getAs("y2")),
                Optional.ofNullable(mask)
                        .map(
                                rle ->
                                        Rle.fromString(
                                                new Size(rle.getInt(0), rle.getInt(1)),
                                                rle.getString(2))));
    }

    @ParameterizedTest
    @EnumSource(names = {"RETINANET", "MASK_RCNN"})
    void detectsObjectsInEachFileOfAFolder(TinyModel model) {
        Path checkpoint = SparkFixtures.checkpoint(folder.resolve("best.safetensors"), model);
        SparkDetector detector = SparkDetector.load(SPARK, checkpoint);
        List<Row> rows = detector.detect(files().repartition(5)).collectAsList();
        assertEquals(8, rows.size());
        try (Detector alone = Detector.load(checkpoint)) {
            for (Row row : rows) {
                String path = row.getAs("path");
                byte[] content = row.getAs("content");
                assertEquals(content.length, row.<Long>getAs("length"));
                if (path.endsWith("broken.png")) {
                    assertNull(row.getAs("objects"));
                    String error = row.getAs("error");
                    assertTrue(error.startsWith(path + ": is not an image"), error);
                } else {
                    List<DetectedObject> expected = alone.detect(content);
                    assertTrue(expected.size() > 1);
                    assertEquals(expected, objects(row));
                    assertNull(row.getAs("error"));
                }
            }
        }
    }

    @Test
    void writesTablesThatSparkReads() {
        String found = folder.resolve("found").toString();

        SparkDetector detector = SparkDetector.load(SPARK, retinaNet);
        Dataset<Row> files = SPARK.read().format("binaryFile").load(photos.toString());
        detector.detect(files).drop("content").write().parquet(found);
        Dataset<Row> objects =
                SPARK.read()
                        .parquet(found)
                        .select(col("path"), explode(col("objects")).as("object"))
                        .select("path", "object.*")
                        .where("label = 'a' and score > 0.0081");

        try (Detector alone = Detector.load(retinaNet)) {
            long expected = 0;
            for (int i = 0; i < 7; i++) {
                expected +=
                        alone.detect(photos.resolve("photo" + i + ".png")).stream()
                                .filter(object -> object.label().equals("a"))
                                .filter(object -> object.score() > 0.0081)
                                .count();
            }
            assertTrue(expected > 0);
            assertEquals(expected, objects.count());
        }
    }

    @Test
    void readsFilesByTheirPathAndLeavesOtherColumns() {
        String good = photos.resolve("photo3.png").toString();
        String missing = photos.resolve("missing.png").toString();
        Dataset<Row> table =
                SPARK.createDataFrame(
                        List.of(
                                RowFactory.create(1L, good, List.of("x", "y")),
                                RowFactory.create(2L, "file://" + good, List.of()),
                                RowFactory.create(3L, "file:" + good, null),
                                RowFactory.create(4L, missing, List.of("z")),
                                RowFactory.create(5L, null, List.of()),
                                RowFactory.create(6L, "nul\0", List.of())),
                        new StructType()
                                .add("id", DataTypes.LongType)
                                .add("the photo", DataTypes.StringType)
                                .add("tags", DataTypes.createArrayType(DataTypes.StringType)));
        SparkDetector detector = SparkDetector.load(SPARK, retinaNet);
        Dataset<Row> found = detector.detect(table, "the photo");
        assertEquals(
                List.of("id", "the photo", "tags", "objects", "error"), List.of(found.columns()));
        assertEquals(
                table.orderBy("id").collectAsList(),
                found.drop("objects", "error").orderBy("id").collectAsList());
        List<Row> rows = found.orderBy("id").collectAsList();
        try (Detector alone = Detector.load(retinaNet)) {
            for (Row row : rows.subList(0, 3)) {
                assertEquals(alone.detect(Path.of(good)), objects(row));
                assertNull(row.getAs("error"));
            }
        }
        assertEquals(missing + ": no such file", rows.get(3).getAs("error"));
        assertEquals("got null, expected the path of an image", rows.get(4).getAs("error"));
        assertTrue(rows.get(5).<String>getAs("error").contains("is not a valid path"));
        assertTrue(rows.subList(3, 6).stream().allMatch(row -> row.getAs("objects") == null));
    }

    @Test
    void namesBytesByTheirPathIfThereIsOne() {
        SparkDetector detector = SparkDetector.load(SPARK, retinaNet);
        Dataset<Row> table =
                files().limit(1)
                        .select(
                                lit("s3://bucket/one.jpg").as("path"),
                                lit(null).cast("binary").as("none"),
                                lit(new byte[] {1, 2, 3}).as("damaged"));
        assertEquals(
                "s3://bucket/one.jpg: got null, expected the bytes of an image",
                detector.detect(table, "none").first().getAs("error"));
        assertEquals(
                "image: got null, expected the bytes of an image",
                detector.detect(table.drop("path"), "none").first().getAs("error"));
        String named = detector.detect(table, "damaged").first().getAs("error");
        assertTrue(named.startsWith("s3://bucket/one.jpg: "), named);
        String plain = detector.detect(table.drop("path"), "damaged").first().getAs("error");
        assertTrue(plain.startsWith("image of 3 bytes: "), plain);
    }

    @Test
    void readsOtherChannels() throws IOException {
        Path bands = Files.createDirectories(folder.resolve("bands"));
        Files.write(bands.resolve("four.npy"), array(4));
        Files.write(bands.resolve("two.npy"), array(2));
        Path checkpoint =
                TinyModel.RETINANET.save(
                        folder.resolve("bands.safetensors"),
                        List.of("a", "b", "c"),
                        PixelFormat.of(4, 0, 4095));
        List<Row> rows =
                SparkDetector.load(SPARK, checkpoint)
                        .detect(SPARK.read().format("binaryFile").load(bands.toString()))
                        .orderBy("path")
                        .collectAsList();
        try (Detector alone = Detector.load(checkpoint)) {
            List<DetectedObject> expected = alone.detect(bands.resolve("four.npy"));
            assertFalse(expected.isEmpty());
            assertEquals(expected, objects(rows.get(0)));
        }
        String error = rows.get(1).getAs("error");
        assertTrue(error.contains("two.npy: has 2 channels, expected 4"), error);
    }

    /** Returns a NumPy array of 64x64 random values of 12 bits in channels. */
    private static byte[] array(int channels) {
        String header =
                Text.format(
                        "{'descr': '<u2', 'fortran_order': False, 'shape': (64, 64, %d)}",
                        channels);
        ByteBuffer array =
                ByteBuffer.allocate(10 + header.length() + 2 * 64 * 64 * channels)
                        .order(ByteOrder.LITTLE_ENDIAN);
        array.put("\u0093NUMPY\1\0".getBytes(StandardCharsets.ISO_8859_1));
        array.putShort((short) header.length());
        array.put(header.getBytes(StandardCharsets.US_ASCII));
        Random random = new Random(1);
        while (array.hasRemaining()) {
            array.putShort((short) random.nextInt(4096));
        }
        return array.array();
    }

    private static void assertRefused(String message, Executable mistake) {
        SaccadeException thrown = assertThrows(SaccadeException.class, mistake);
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains(message), thrown.getMessage());
    }

    @Test
    void rejectsErrorsBeforeRunning() {
        SparkDetector detector = SparkDetector.load(SPARK, retinaNet);
        Dataset<Row> files = files();
        assertRefused(
                "no column photo; expected one of [path, modificationTime, length, content]",
                () -> detector.detect(files, "photo"));
        assertRefused(
                "column length: got type bigint, expected binary",
                () -> detector.detect(files, "length"));
        assertRefused(
                "already has a column Error",
                () -> detector.detect(files.withColumn("Error", lit(1))));
        assertRefused(
                "already has a column objects", () -> detector.detect(detector.detect(files)));

        Path missing = folder.resolve("missing.safetensors");
        assertRefused(missing + ": no such file", () -> SparkDetector.load(SPARK, missing));
        Path segmenter =
                SparkFixtures.checkpoint(folder.resolve("fpn.safetensors"), TinyModel.SEMANTIC_FPN);
        assertRefused(
                segmenter + ": got a segmenter, expected a detector",
                () -> SparkDetector.load(SPARK, segmenter));
    }
}
