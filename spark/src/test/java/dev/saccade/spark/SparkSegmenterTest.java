package dev.saccade.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.ClassMap;
import dev.saccade.models.Segmenter;
import dev.saccade.testsupport.TinyModel;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Segmenters on the photographs of a table. */
class SparkSegmenterTest {

    private static final SparkSession SPARK = SparkFixtures.spark();

    @TempDir Path folder;

    @Test
    void segmentsEachFileOfAFolder() throws IOException {
        Path photos = SparkFixtures.photos(folder.resolve("photos"));
        Path checkpoint =
                SparkFixtures.checkpoint(
                        folder.resolve("best.safetensors"), TinyModel.SEMANTIC_FPN);
        Dataset<Row> files = SPARK.read().format("binaryFile").load(photos.toString());
        SparkSegmenter segmenter = SparkSegmenter.load(SPARK, checkpoint);
        List<Row> rows = segmenter.segment(files.repartition(3)).collectAsList();
        assertEquals(8, rows.size());
        try (Segmenter alone = Segmenter.load(checkpoint)) {
            for (Row row : rows) {
                String path = row.getAs("path");
                if (path.endsWith("broken.png")) {
                    assertNull(row.getAs("labels"));
                    assertNull(row.getAs("fractions"));
                    assertTrue(row.<String>getAs("error").startsWith(path + ": is not an image"));
                } else {
                    ClassMap expected = alone.segment(row.<byte[]>getAs("content"));
                    assertArrayEquals(expected.toPng(), row.getAs("labels"));
                    assertEquals(expected.fractions(), row.getJavaMap(row.fieldIndex("fractions")));
                    assertNull(row.getAs("error"));
                }
            }
        }
        assertThrows(SaccadeException.class, () -> segmenter.segment(files, "modificationTime"));
    }

    @Test
    void rejectsDetectors() {
        Path checkpoint =
                SparkFixtures.checkpoint(folder.resolve("best.safetensors"), TinyModel.RETINANET);
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> SparkSegmenter.load(SPARK, checkpoint));
        assertEquals(checkpoint + ": got a detector, expected a segmenter", thrown.getMessage());
    }
}
