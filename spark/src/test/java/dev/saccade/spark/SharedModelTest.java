package dev.saccade.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.models.Detector;
import dev.saccade.testsupport.TinyModel;

import org.apache.spark.SparkException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** The model that the tasks of an executor share. */
class SharedModelTest {

    private static final SparkSession SPARK = SparkFixtures.spark();
    private static final AtomicInteger QUESTIONS = new AtomicInteger();

    @TempDir Path folder;
    private Path checkpoint;
    private Dataset<Row> files;

    @BeforeEach
    void write() throws IOException {
        checkpoint =
                SparkFixtures.checkpoint(folder.resolve("shared.safetensors"), TinyModel.RETINANET);
        files =
                SPARK.read()
                        .format("binaryFile")
                        .load(SparkFixtures.photos(folder.resolve("photos")).toString());
    }

    /** Returns a table whose column {@code model} tells instances apart. */
    private Dataset<Row> models(PredictionColumns<Detector> answers) {
        return answers.addTo(files.repartition(8), "content");
    }

    private static PredictionColumns<Detector> answers(Path checkpoint) {
        return new PredictionColumns<>(
                SPARK,
                new SharedModel<>(Detector.class, checkpoint),
                new StructType()
                        .add("model", DataTypes.IntegerType)
                        .add("classes", DataTypes.IntegerType),
                (detector, photo) -> {
                    QUESTIONS.incrementAndGet();
                    return new Object[] {
                        System.identityHashCode(detector), detector.classes().size()
                    };
                });
    }

    @Test
    void isSharedByAllTasksAndCalledOncePerRow() {
        PredictionColumns<Detector> answers = answers(checkpoint);
        QUESTIONS.set(0);
        Dataset<Row> first = models(answers);
        assertEquals(8, first.where("classes = 3 and error is null").count());
        assertEquals(8, QUESTIONS.get());
        Dataset<Row> both = first.union(models(answers)).select("model");
        assertEquals(1, both.distinct().count());
        Dataset<Row> other = models(answers(checkpoint)).select("model");
        assertEquals(2, both.union(other).distinct().count());
    }

    @Test
    void isFoundInFilesSentBySpark() {
        SPARK.sparkContext().addFile(checkpoint.toString());
        Path elsewhere = folder.resolve("elsewhere").resolve(checkpoint.getFileName());
        assertEquals(8, models(answers(elsewhere)).where("classes = 3").count());
    }

    @Test
    void reportsAMissingFile() {
        Path missing = folder.resolve("missing.safetensors");
        SparkException thrown =
                assertThrows(SparkException.class, () -> models(answers(missing)).collectAsList());
        assertTrue(
                thrown.getMessage().contains(missing + ": no such file on this executor"),
                thrown.getMessage());
    }

    @Test
    @Timeout(60)
    void isClosedOnceNobodyCanAskIt() throws InterruptedException {
        Detector detector = new SharedModel<>(Detector.class, checkpoint).use(loaded -> loaded);
        Path photo = folder.resolve("photos").resolve("photo0.png");
        boolean open = true;
        while (open) {
            System.gc();
            Thread.sleep(10);
            try {
                assertFalse(detector.detect(photo).isEmpty());
            } catch (IllegalStateException e) {
                assertEquals("the Detector is closed", e.getMessage());
                open = false;
            }
        }
    }
}
